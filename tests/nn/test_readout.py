"""Pooling, against loops and against PyG."""

from __future__ import annotations

import pytest
import torch
from tests.helpers.samples import DEGENERATE, batch_of, random_graphs, vectors
from torch_geometric.nn import global_add_pool, global_max_pool, global_mean_pool
from torch_geometric.nn.aggr import Set2Set as PygSet2Set

from graphtrial.core.errors import GraphTrialError
from graphtrial.nn.readout import Set2Set, pool

PYG = {"sum": global_add_pool, "mean": global_mean_pool, "max": global_max_pool}
LISTS = {"degenerate": DEGENERATE, **{f"random-{seed}": random_graphs(8, seed) for seed in range(3)}}


@pytest.mark.parametrize("how", PYG)
@pytest.mark.parametrize("given", LISTS)
def test_pooling_and_its_gradient_match_pyg(given: str, how: str) -> None:
    batch = batch_of(LISTS[given])
    weight = vectors(batch.num_graphs, 3, seed=1)
    ours, theirs = (vectors(batch.num_nodes, 3).requires_grad_() for _ in range(2))
    out, expected = pool(batch, ours, how), PYG[how](theirs, batch.batch, size=batch.num_graphs)
    torch.testing.assert_close(out, expected)
    (out * weight).sum().backward()
    (expected * weight).sum().backward()
    torch.testing.assert_close(ours.grad, theirs.grad)


@pytest.mark.parametrize("how", PYG)
def test_pooling_equals_a_loop_over_graphs(how: str) -> None:
    batch = batch_of(DEGENERATE)
    x = vectors(batch.num_nodes, 3)
    for graph, part in enumerate(x.split([nodes for nodes, _ in DEGENERATE])):
        expected = torch.zeros(3, dtype=x.dtype)
        if len(part):
            expected = {"sum": part.sum(0), "mean": part.mean(0), "max": part.amax(0)}[how]
        torch.testing.assert_close(pool(batch, x, how)[graph], expected)


@pytest.mark.parametrize("how", PYG)
def test_pooling_of_no_graphs_and_of_graphs_without_nodes(how: str) -> None:
    assert pool(batch_of([]), vectors(0, 3), how).shape == (0, 3)
    assert pool(batch_of([(0, []), (0, [])]), vectors(0, 3), how).tolist() == [[0.0] * 3] * 2


def test_unknown_readout_raises_and_names_the_known_ones() -> None:
    with pytest.raises(GraphTrialError, match="no readout called 'median': use mean, sum, max, set2set"):
        pool(batch_of(DEGENERATE), vectors(21, 3), "median")


@pytest.mark.parametrize("steps", [1, 3])
def test_set2set_matches_pyg(steps: int) -> None:
    batch = batch_of([graph for graph in DEGENERATE if graph[0]])
    ours, theirs = Set2Set(5, steps).double(), PygSet2Set(5, steps).double()
    for name, value in ours.lstm.named_parameters():
        getattr(theirs.lstm, f"{name}_l0").data.copy_(value.data)
    x = vectors(batch.num_nodes, 5)
    torch.testing.assert_close(ours(batch, x), theirs(x, batch.batch))
    assert ours(batch, x).shape == (batch.num_graphs, 10)


def test_set2set_of_an_empty_graph_is_zero() -> None:
    batch = batch_of(DEGENERATE)
    empty = [graph for graph, size in enumerate(batch.ptr.diff().tolist()) if not size]
    assert empty
    read = Set2Set(5).double()(batch, vectors(batch.num_nodes, 5))
    assert torch.isfinite(read).all()
    assert (read[empty, 5:] == 0).all()
