"""Self-loops, against PyG."""

from __future__ import annotations

import pytest
import torch
from tests.helpers.samples import DEGENERATE, batch_of, random_graphs
from torch_geometric.utils import add_remaining_self_loops as pyg_add_remaining_self_loops
from torch_geometric.utils import coalesce, remove_self_loops

from graphtrial.graphs import GraphBatch
from graphtrial.graphs.self_loops import add_remaining_self_loops


@pytest.fixture(params=[DEGENERATE, random_graphs(6, 1), random_graphs(6, 2)], ids=["degenerate", "one", "two"])
def batch(request: pytest.FixtureRequest) -> GraphBatch:
    return batch_of(request.param)


def test_self_loops_are_added_to_nodes_without_one(batch: GraphBatch) -> None:
    looped = add_remaining_self_loops(batch)
    source, target = looped.edge_index
    assert set(source[source == target].tolist()) == set(range(batch.num_nodes))
    assert torch.equal(remove_self_loops(looped.edge_index)[0], remove_self_loops(batch.edge_index)[0])
    theirs = pyg_add_remaining_self_loops(batch.edge_index, num_nodes=batch.num_nodes)[0]
    assert torch.equal(coalesce(looped.edge_index), coalesce(theirs))


def test_result_has_the_structure_of_a_batch(batch: GraphBatch) -> None:
    looped = add_remaining_self_loops(batch)
    source, target = looped.edge_index
    keys = list(zip(target.tolist(), source.tolist(), strict=True))
    assert keys == sorted(keys)
    assert looped.in_degree.tolist() == torch.bincount(target, minlength=batch.num_nodes).tolist()
    assert looped.out_degree.tolist() == torch.bincount(source, minlength=batch.num_nodes).tolist()
    for node in range(batch.num_nodes):
        assert (target[looped.in_ptr[node] : looped.in_ptr[node + 1]] == node).all()
        assert (source[looped.out_order[looped.out_ptr[node] : looped.out_ptr[node + 1]]] == node).all()


def test_edge_features_are_kept_and_zero_for_new_loops(batch: GraphBatch) -> None:
    looped = add_remaining_self_loops(batch)
    features = looped.edge_attr.tolist()
    old = sorted(zip(*batch.edge_index.tolist(), batch.edge_attr.tolist(), strict=True))
    new = sorted(zip(*looped.edge_index.tolist(), features, strict=True))
    for edge in old:
        new.remove(edge)
    assert all(source == target and feature == 0 for source, target, feature in new)
    assert looped.x is batch.x
    assert add_remaining_self_loops(batch).in_ptr is looped.in_ptr  # cached
