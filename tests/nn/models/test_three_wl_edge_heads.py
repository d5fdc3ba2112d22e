"""3WL-GNN that scores edges block by block."""

from __future__ import annotations

import pytest
import torch
from tests.helpers.samples import EDGE_TYPES, NODE_TYPES, batch_of, graph_set, random_graphs, relabelled, whole

from graphtrial.nn import Shapes, build_model, count_parameters, parameter_count
from graphtrial.published.counts import parameter_checks
from graphtrial.published.shapes import published_shapes

SHAPES = Shapes(outputs=2, level="edge", node_types=NODE_TYPES, edge_types=EDGE_TYPES)


def test_each_block_has_a_linear_edge_head() -> None:
    plain = build_model("3wl-gnn", SHAPES, {"width": 8})
    by_block = build_model("3wl-gnn", SHAPES, {"width": 8, "edge_layer_heads": True})
    heads = count_parameters(by_block.heads)  # type: ignore[arg-type]
    assert heads == 3 * (2 * 8 * 2 + 2)
    assert count_parameters(plain) - count_parameters(plain.heads) == count_parameters(by_block) - heads  # type: ignore[arg-type]


def test_edge_outputs_are_equivariant() -> None:
    torch.manual_seed(0)
    model = build_model("3wl-gnn", SHAPES, {"width": 8, "edge_layer_heads": True}).double().eval()
    graphs = graph_set(random_graphs(6, seed=2, undirected=True))
    other, place = relabelled(graphs, seed=1)
    first, second = whole(graphs), whole(other)
    before, after = model(first), model(second)
    assert before.shape == (first.num_edges, 2)
    moved = torch.from_numpy(place)[first.edge_index]
    key = lambda ends: (ends[1] * first.num_nodes + ends[0]).argsort(stable=True)  # noqa: E731
    order = key(moved)
    parallel = (second.edge_index[:, 1:] == second.edge_index[:, :-1]).all(dim=0)
    unique = torch.ones(first.num_edges, dtype=torch.bool)
    unique[1:] &= ~parallel
    unique[:-1] &= ~parallel
    torch.testing.assert_close(before[order][unique], after[unique])


def test_all_parameters_receive_a_gradient() -> None:
    model = build_model("3wl-gnn", SHAPES, {"width": 8, "edge_layer_heads": True, "edge_features": True})
    model(batch_of(random_graphs(4, seed=0))).square().sum().backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in model.parameters())


@pytest.mark.slow
def test_released_parameter_count_on_tsp_is_four_times_the_printed() -> None:
    shapes = published_shapes("TSP")
    assert shapes is not None
    largest = {"width": 98, "layers": 8, "edge_features": True, "residual": True}
    assert parameter_count("3wl-gnn", shapes, largest) == 2_060_012
    assert parameter_count("3wl-gnn", shapes, {**largest, "edge_layer_heads": True}) == 508_832
    cell = next(cell for cell in parameter_checks() if cell.published == 508_832)
    assert cell.match
    assert "2060012" in cell.source
