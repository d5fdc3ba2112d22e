"""PNA's aggregation against PyG's layer with the same weights, and against its equations node by node."""

from __future__ import annotations

import math

import pytest
import torch
from tests.helpers.layers import directed
from tests.helpers.samples import DEGENERATE, Graph, batch_of, vectors
from torch import Tensor
from torch_geometric.nn import PNAConv

from graphtrial.graphs import GraphBatch
from graphtrial.nn.neighbourhood.pna_layer import Aggregation, PNALayer
from graphtrial.nn.neighbourhood.towers import TowerLinear

WIDTH, TOWERS, EDGE = 12, 3, 4
SCALERS = ("identity", "amplification", "attenuation")


def aggregation(*aggregators: str, divide: bool = True, edges: bool = True, outputs: int = WIDTH) -> Aggregation:
    torch.manual_seed(3)
    layer = Aggregation(
        WIDTH,
        outputs,
        towers=TOWERS,
        divide=divide,
        aggregators=aggregators,
        scalers=SCALERS,
        delta=0.9,
        edge_width=EDGE if edges else 0,
    ).double()
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(torch.randn_like(parameter) / 3)
    return layer


@directed
@pytest.mark.parametrize("divide", [True, False])
def test_aggregation_matches_pyg_where_no_standard_deviation_is_taken(given: list[Graph], divide: bool) -> None:
    batch = batch_of(given)
    ours = aggregation("mean", "max", "min", divide=divide)
    histogram = torch.tensor([0, 3, 5, 2, 1])  # of PyG's layer; its mean of log(d + 1) is put in place of ours
    theirs = PNAConv(
        WIDTH, WIDTH, ["mean", "max", "min"], list(SCALERS), histogram, EDGE, towers=TOWERS, divide_input=divide
    ).double()
    ours.delta = float(theirs.aggr_module.avg_deg_log)
    width = WIDTH // TOWERS if divide else WIDTH
    with torch.no_grad():
        theirs.lin.weight.copy_(torch.eye(WIDTH))
        theirs.lin.bias.zero_()
        for tower in range(TOWERS):
            # PyG maps edges to the width of a tower first; the identity on a part of it makes the two the same
            theirs.edge_encoder.weight.copy_(torch.eye(width, EDGE))
            theirs.edge_encoder.bias.zero_()
            edge = torch.zeros(width, width, dtype=torch.float64)
            edge[:, :EDGE] = ours.edge.weight[tower]
            pre, post = theirs.pre_nns[tower][0], theirs.post_nns[tower][0]
            pre.weight.copy_(torch.cat([ours.own.weight[tower], ours.sent.weight[tower], edge], dim=1))
            pre.bias.copy_(ours.sent.bias[tower])
            parts = [ours.update.weight[tower], *(linear.weight[tower] for linear in ours.aggregated)]
            post.weight.copy_(torch.cat(parts, dim=1))
            post.bias.copy_(ours.update.bias[tower])
    x, e = vectors(batch.num_nodes, WIDTH), vectors(batch.num_edges, EDGE, seed=1)
    torch.testing.assert_close(ours(batch, x, e), theirs(x, batch.edge_index, e))


@directed
@pytest.mark.parametrize("edges", [True, False])
def test_aggregation_equals_its_equation(given: list[Graph], edges: bool) -> None:
    batch, layer = batch_of(given), aggregation("mean", "max", "min", "std", "sum", edges=edges, outputs=6)
    x, e = vectors(batch.num_nodes, WIDTH), vectors(batch.num_edges, EDGE, seed=1) if edges else None
    torch.testing.assert_close(layer(batch, x, e), by_hand(layer, batch, x, e))


def by_hand(layer: Aggregation, batch: GraphBatch, x: Tensor, e: Tensor | None) -> Tensor:
    rows = []
    for node in range(batch.num_nodes):
        towers = []
        for tower, part in enumerate(x.chunk(TOWERS, dim=1)):
            messages = []
            for edge, (source, target) in enumerate(batch.edge_index.T.tolist()):
                if target == node:
                    message = layer.sent.weight[tower] @ part[source] + layer.own.weight[tower] @ part[node]
                    message = message + layer.sent.bias[tower]
                    messages.append(message if e is None else message + layer.edge.weight[tower] @ e[edge])
            out = layer.update.weight[tower] @ part[node] + layer.update.bias[tower]
            if messages:
                m = torch.stack(messages)
                std = ((m**2).mean(0) - m.mean(0) ** 2).clamp(min=0).add(1e-5).sqrt()
                parts = torch.cat([m.mean(0), m.max(0).values, m.min(0).values, std, m.sum(0)])
                log = math.log(len(messages) + 1)
                for linear, factor in zip(layer.aggregated, (1, log / 0.9, 0.9 / log), strict=True):
                    out = out + factor * (linear.weight[tower] @ parts)
            towers.append(out)
        rows.append(torch.cat(towers))
    return torch.stack(rows)


def test_layer_mixes_towers_and_has_a_skip_connection() -> None:
    batch, x = batch_of(DEGENERATE), None
    x = vectors(batch.num_nodes, WIDTH)
    for outputs in (WIDTH, 6):
        inner = aggregation("mean", edges=False, outputs=outputs)
        layer = PNALayer(inner, WIDTH, outputs, dropout=0.0, graph_norm=True).double().eval()
        layer.norm.running_mean += 0.3
        nodes = torch.bincount(batch.batch)[batch.batch].unsqueeze(1)
        normed = (inner(batch, x, None) / nodes**0.5 - 0.3) / math.sqrt(1 + 1e-5)
        mixed = normed @ layer.mixing.weight[0].T + layer.mixing.bias[0]
        mixed = torch.where(mixed > 0, mixed, 0.01 * mixed)
        torch.testing.assert_close(layer(batch, x, None), x + mixed if outputs == WIDTH else mixed)


def test_initialization_matches_the_released_code() -> None:
    torch.manual_seed(0)
    weight = TowerLinear(8, 20, 30, fan_in=50).weight
    bound = math.sqrt(6 / (50 + 30)) / 50
    assert weight.abs().max() <= bound
    torch.testing.assert_close(weight.std(), torch.tensor(bound / math.sqrt(3)), rtol=0.05, atol=0)
