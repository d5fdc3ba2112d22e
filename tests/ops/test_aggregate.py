"""Aggregation over in-edges, against loops and against PyG's scatter."""

from __future__ import annotations

import pytest
import torch
from tests.helpers.samples import DEGENERATE, Graph, batch_of, random_graphs, vectors
from torch import Tensor
from torch_geometric.utils import scatter

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.nn.readout import pool
from graphtrial.ops import aggregate
from graphtrial.ops.portable import portable_path

REDUCES = ("sum", "mean", "max")
LISTS = {"degenerate": DEGENERATE, **{f"random-{seed}": random_graphs(8, seed) for seed in range(5)}}


@pytest.fixture(params=LISTS)
def batch(request: pytest.FixtureRequest) -> GraphBatch:
    return batch_of(LISTS[request.param])


def looped(batch: GraphBatch, messages: Tensor, reduce: str) -> Tensor:
    """The definition, one node at a time."""
    rows = []
    for node in range(batch.num_nodes):
        messages_in = [messages[edge] for edge in range(batch.num_edges) if batch.edge_index[1, edge] == node]
        if not messages_in:
            rows.append(torch.zeros_like(messages[:1].sum(dim=0)))
        elif reduce == "max":
            rows.append(torch.stack(messages_in).amax(dim=0))
        else:
            rows.append(torch.stack(messages_in).sum(dim=0) / (len(messages_in) if reduce == "mean" else 1))
    return torch.stack(rows)


@pytest.mark.parametrize("reduce", REDUCES)
def test_aggregation_equals_a_loop_over_neighbours(batch: GraphBatch, reduce: str) -> None:
    x = vectors(batch.num_nodes, 3)
    torch.testing.assert_close(aggregate(batch, x, reduce), looped(batch, x[batch.edge_index[0]], reduce))


@pytest.mark.parametrize("reduce", ["sum", "mean"])
@pytest.mark.parametrize("heads", [None, 1, 3])
def test_edge_weights_multiply_the_messages(batch: GraphBatch, reduce: str, heads: int | None) -> None:
    weight = vectors(batch.num_edges, heads or 1)
    x = vectors(batch.num_nodes, 4 * (heads or 1)).reshape(-1, heads or 1, 4)
    expected = looped(batch, x[batch.edge_index[0]] * weight.unsqueeze(2), reduce)
    if heads is None:
        weight, x, expected = weight[:, 0], x[:, 0], expected[:, 0]
    torch.testing.assert_close(aggregate(batch, x, reduce, weight), expected)


@pytest.mark.parametrize("reduce", REDUCES)
def test_aggregation_and_its_gradient_match_pyg(batch: GraphBatch, reduce: str) -> None:
    source, target = batch.edge_index
    weight = vectors(batch.num_nodes, 4, seed=1)
    ours, theirs = (vectors(batch.num_nodes, 4).requires_grad_() for _ in range(2))
    out = aggregate(batch, ours, reduce)
    expected = scatter(theirs[source], target, dim=0, dim_size=batch.num_nodes, reduce=reduce)
    torch.testing.assert_close(out, expected)
    (out * weight).sum().backward()
    (expected * weight).sum().backward()
    torch.testing.assert_close(ours.grad, theirs.grad)


@pytest.mark.parametrize("reduce", REDUCES)
def test_nodes_without_in_edges_get_zero_even_where_all_messages_are_negative(reduce: str) -> None:
    batch = batch_of([(3, [(0, 1), (2, 1)])])
    out = aggregate(batch, torch.full((3, 2), -5.0), reduce)
    assert out[[0, 2]].tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert (out[1] < 0).all()


@pytest.mark.parametrize("reduce", REDUCES)
@pytest.mark.parametrize("given", [[(0, [])], [(3, []), (2, [])], []])
def test_graphs_without_nodes_or_edges_aggregate_to_zeros(reduce: str, given: list[Graph]) -> None:
    batch = batch_of(given)
    out = aggregate(batch, vectors(batch.num_nodes, 5), reduce)
    assert out.shape == (batch.num_nodes, 5)
    assert not out.any()


@pytest.mark.parametrize("reduce", REDUCES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_output_has_the_dtype_of_the_input(reduce: str, dtype: torch.dtype) -> None:
    assert aggregate(batch_of(DEGENERATE), torch.ones(21, 2, dtype=dtype), reduce).dtype == dtype


@pytest.mark.parametrize("reduce", REDUCES)
def test_aggregation_passes_gradcheck(reduce: str) -> None:
    batch = batch_of(DEGENERATE)
    x = vectors(batch.num_nodes, 2).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: aggregate(batch, x, reduce), (x,))


def test_unknown_reduction_raises_and_lists_the_allowed_ones() -> None:
    with pytest.raises(GraphTrialError, match="cannot aggregate by 'median': use sum, mean or max"):
        aggregate(batch_of(DEGENERATE), torch.ones(21, 2), "median")  # type: ignore[arg-type]


@pytest.mark.parametrize("portable", [False, True])
@pytest.mark.parametrize("nan", [0, 1, 2])
@pytest.mark.parametrize("reduce", REDUCES)
def test_nan_is_kept(reduce: str, nan: int, portable: bool) -> None:
    """A maximum that left NaN out would hide a training that has diverged."""
    graph = batch_of([(4, [(0, 3), (1, 3), (2, 3)])])
    x = torch.tensor([[1.0], [3.0], [2.0], [0.0]])
    x[nan] = float("nan")
    with portable_path(portable):
        assert aggregate(graph, x, reduce).isnan().flatten().tolist() == [False, False, False, True]
        graphs = pool(graph, x, reduce)
    assert graphs.isnan().all()
