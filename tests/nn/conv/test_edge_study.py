"""The layers of the edge study against their equations, node by node and head by head."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from tests.helpers.layers import WIDTH, accepted_settings, build_layer, directed, output
from tests.helpers.samples import DEGENERATE, Graph, batch_of, vectors
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric.nn import GATConv

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.nn import MODELS, Shapes, build_model, count_parameters
from graphtrial.nn.conv.gat_edgefeat import EdgeFeatureGAT
from graphtrial.nn.conv.gat_edgerepr import EdgeStateGAT
from graphtrial.nn.conv.gat_isotropic import IsotropicGAT
from graphtrial.nn.conv.gatedgcn_edgefeat import EdgeFeatureGatedGCN
from graphtrial.nn.conv.gatedgcn_isotropic import IsotropicGatedGCN
from graphtrial.nn.conv.graphsage_edgefeat import EdgeFeatureGraphSage
from graphtrial.nn.conv.graphsage_edgerepr import EdgeStateGraphSage
from graphtrial.published import Configuration, configurations


def by_node(batch: GraphBatch, combine: Callable[[int, list[tuple[int, int]]], Tensor]) -> Tensor:
    """Call `combine` with each node and its (edge, source) pairs."""
    edges = batch.edge_index.T.tolist()
    received = [[(i, u) for i, (u, v) in enumerate(edges) if v == node] for node in range(batch.num_nodes)]
    return torch.stack([combine(node, pairs) for node, pairs in enumerate(received)])


def zeros() -> Tensor:
    return torch.zeros(WIDTH, dtype=torch.float64)


@directed
def test_isotropic_gatedgcn_sums_its_neighbours(given: list[Graph]) -> None:
    batch, layer = batch_of(given), build_layer(IsotropicGatedGCN)
    x = vectors(batch.num_nodes, WIDTH)
    expected = by_node(batch, lambda i, pairs: layer.A(x[i]) + sum((layer.B(x[j]) for _, j in pairs), zeros()))
    torch.testing.assert_close(output(layer, batch, x), expected)


@directed
def test_gatedgcn_with_edge_features_gates_by_both_ends(given: list[Graph]) -> None:
    batch, layer = batch_of(given), build_layer(EdgeFeatureGatedGCN)
    x = vectors(batch.num_nodes, WIDTH)

    def combine(i: int, pairs: list[tuple[int, int]]) -> Tensor:
        gates = [1 / (1 + torch.exp(-layer.D(x[j]) - layer.E(x[i]))) for _, j in pairs]
        top = sum((gate * layer.B(x[j]) for gate, (_, j) in zip(gates, pairs, strict=True)), zeros())
        return layer.A(x[i]) + top / (sum(gates, zeros()) + 1e-6)

    torch.testing.assert_close(output(layer, batch, x), by_node(batch, combine))


@directed
def test_isotropic_gat_sums_its_neighbours(given: list[Graph]) -> None:
    batch, layer = batch_of(given), build_layer(IsotropicGAT)
    x = vectors(batch.num_nodes, WIDTH)
    expected = by_node(batch, lambda i, pairs: sum((layer.linear(x[j]) for _, j in pairs), zeros()))
    torch.testing.assert_close(output(layer, batch, x), expected)


@directed
@pytest.mark.parametrize("heads", [1, 4])
def test_gat_with_edge_features_matches_pyg_of_that_slope(given: list[Graph], heads: int) -> None:
    batch, layer = batch_of(given), build_layer(EdgeFeatureGAT, heads=heads)
    theirs = GATConv(WIDTH, WIDTH // heads, heads=heads, bias=False, add_self_loops=False, negative_slope=0.01).double()
    source, target = layer.score.unsqueeze(1)
    theirs.load_state_dict({"att_src": source, "att_dst": target, "lin.weight": layer.linear.weight})
    x = vectors(batch.num_nodes, WIDTH)
    torch.testing.assert_close(output(layer, batch, x), theirs(x, batch.edge_index))


@directed
@pytest.mark.parametrize("heads", [1, 4])
def test_gat_with_edge_states_equals_separate_heads(given: list[Graph], heads: int) -> None:
    batch, layer = batch_of(given), build_layer(EdgeStateGAT, heads=heads)
    x, e = vectors(batch.num_nodes, WIDTH), vectors(batch.num_edges, WIDTH, seed=2)
    new_x, new_e = [], []
    for head in range(heads):
        own = slice(head * WIDTH // heads, (head + 1) * WIDTH // heads)
        weight = layer.mix[:, head].flatten(0, 1)  # of edge, source and target
        z, f = x @ layer.node.weight[own].T, e @ layer.edge.weight[own].T
        joined = torch.cat([f, z[batch.edge_index[0]], z[batch.edge_index[1]]], dim=1)
        new_e.append(joined @ weight[:, :-1] + layer.bias[own])
        scores = F.leaky_relu(joined @ weight[:, -1], 0.01).exp()

        def combine(_: int, pairs: list[tuple[int, int]], z: Tensor = z, scores: Tensor = scores) -> Tensor:
            total = sum(scores[i] for i, _ in pairs)
            return sum((scores[i] / total * z[j] for i, j in pairs), torch.zeros_like(z[0]))

        new_x.append(by_node(batch, combine))
    out_x, out_e = layer(batch, x, e)
    torch.testing.assert_close(out_x, torch.cat(new_x, dim=1))
    torch.testing.assert_close(out_e, torch.cat(new_e, dim=1))


@directed
@pytest.mark.parametrize("states", [True, False])
def test_gated_graphsage_takes_the_maximum_over_gated_neighbours(given: list[Graph], states: bool) -> None:
    batch, layer = batch_of(given), build_layer(EdgeStateGraphSage if states else EdgeFeatureGraphSage)
    x, e = vectors(batch.num_nodes, WIDTH), vectors(batch.num_edges, WIDTH, seed=2)
    logits = [
        layer.B(x[u]) + layer.B(x[v]) + (layer.C(e[i]) if states else 0)
        for i, (u, v) in enumerate(batch.edge_index.T.tolist())
    ]

    def combine(i: int, pairs: list[tuple[int, int]]) -> Tensor:
        received = [(layer.A(x[j]) / (1 + torch.exp(-logits[edge]))).clamp(min=0) for edge, j in pairs]
        row = layer.linear(torch.cat([x[i], torch.stack([zeros(), *received]).max(dim=0).values]))
        return row / row.norm()

    out_x, out_e = layer(batch, x, e)
    torch.testing.assert_close(out_x, by_node(batch, combine))
    torch.testing.assert_close(out_e, torch.stack(logits) if states and logits else e)


@pytest.mark.parametrize("kind", [EdgeStateGAT, EdgeStateGraphSage])
def test_layers_with_edge_states_need_them(kind: type[nn.Module]) -> None:
    with pytest.raises(GraphTrialError, match="needs a vector for each edge"):
        kind(8)(batch_of(DEGENERATE), torch.zeros(21, 8), None)


def expected_parameters(name: str, d: int, heads: int) -> int:
    """One layer's numbers without its norms, from the table of the reference."""
    linear, k = d * d + d, d // heads
    return {
        "gatedgcn-isotropic": 2 * linear,
        "gatedgcn-edgefeat": 4 * linear,
        "gatedgcn": 5 * linear,
        "gat-isotropic": heads * d * k,
        "gat-edgefeat": heads * (d * k + 2 * k),
        "gat-edgerepr": heads * (2 * d * k + 3 * k * k + k + 3 * k),
        "gat": d * k * heads + 2 * k * heads,
        "graphsage-edgefeat": 2 * d * d + d + 2 * linear,
        "graphsage-edgerepr": 2 * d * d + d + 3 * linear,
        "monet": d * 3 * d + 2 * 3 * 2 + d + 3 * 2,
        "gin": 2 * linear + 2 * d + 1,
        "mlp": linear,
        "gcn": linear,
        "gcn-vanilla": linear,
    }[name]


@pytest.mark.parametrize(
    "name",
    [
        *("gatedgcn-isotropic", "gatedgcn-edgefeat", "gatedgcn", "gat-isotropic", "gat-edgefeat", "gat-edgerepr"),
        *("gat", "graphsage-edgefeat", "graphsage-edgerepr", "monet", "gin", "mlp", "gcn", "gcn-vanilla"),
    ],
)
@pytest.mark.parametrize("width", [8, 72, 120])
def test_layer_has_the_parameters_of_its_formula(name: str, width: int) -> None:
    layer = MODELS.get(name)(width)
    assert sum(p.numel() for p in layer.parameters()) == expected_parameters(name, width, heads=8)


TSP = Shapes(outputs=2, level="edge", node_dim=2, edge_dim=1)
COLLAB = Shapes(outputs=1, level="pair", node_dim=128, edge_dim=2)
VARIANTS = {"dgl": "", "isotropic": "-isotropic", "edgefeat": "-edgefeat", "edgereprfeat": "-edgerepr"}
NAMES = {"gatedgcn-edgerepr": "gatedgcn", "graphsage-isotropic": "graphsage"}
STUDY = [
    config
    for dataset in ("TSP", "OGBL-COLLAB")
    for config in configurations()
    if config.printed.dataset == dataset and "layer_type" in config.details
]


@pytest.mark.parametrize("config", STUDY, ids=lambda c: f"{c.printed.dataset}-{c.model}-{c.printed.variant}-{c.params}")
def test_model_of_the_edge_study_has_its_released_parameters(config: Configuration) -> None:
    name = config.printed.model.lower() + VARIANTS[config.details["layer_type"]]
    name = NAMES.get(name, name)
    assert name == config.model
    settings = {**config.settings, "idle_edge_embedding": True}  # the reference counts the unused embedding
    shapes = TSP if config.printed.dataset == "TSP" else COLLAB
    if config.encoding != "none":
        shapes = replace(shapes, encoding_dim=int(config.encoding.removeprefix("laplacian:")))
    model, kind = build_model(name, shapes, accepted_settings(name, **settings)), MODELS.get(name)
    # The reference gives the last layer a single head of full width; only edge states make that another count.
    model.blocks[-1].conv = kind(config.settings["width"], **kind.last_layer)
    assert count_parameters(model) == config.params


def test_every_model_of_the_edge_study_is_covered() -> None:
    assert len(STUDY) >= 20
    assert {config.printed.model for config in STUDY} == {"GatedGCN", "GAT", "GraphSage"}


@pytest.mark.parametrize("kind", [EdgeFeatureGAT, EdgeStateGAT])
def test_custom_gat_has_torch_initialization(kind: type[nn.Module]) -> None:
    torch.manual_seed(0)
    layer = kind(256, heads=4)
    weight = layer.score if kind is EdgeFeatureGAT else layer.mix
    bound = ((2 if kind is EdgeFeatureGAT else 3) * 64) ** -0.5
    assert 0.98 * bound < weight.abs().max().item() <= bound
    for name, parameter in layer.named_parameters():
        if name.endswith("linear.weight"):
            assert 0.98 / 16 < parameter.abs().max().item() <= 1 / 16
