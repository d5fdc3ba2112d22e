"""Aggregation of messages on in-edges, against PyG's scatter."""

from __future__ import annotations

import pytest
import torch
from tests.helpers.samples import DEGENERATE, Graph, batch_of, random_graphs, vectors
from torch_geometric.utils import scatter

from graphtrial.core.errors import GraphTrialError
from graphtrial.ops import aggregate_messages

GIVEN = {"degenerate": DEGENERATE, "no edges": [(3, [])], "no nodes": [(0, [])], "random": random_graphs(8, seed=1)}


@pytest.mark.parametrize("given", GIVEN.values(), ids=GIVEN)
@pytest.mark.parametrize("reduce", ["sum", "mean", "max"])
def test_aggregation_matches_scatter(given: list[Graph], reduce: str) -> None:
    batch = batch_of(given)
    messages = vectors(batch.num_edges, 5)
    expected = scatter(messages, batch.edge_index[1], dim=0, dim_size=batch.num_nodes, reduce=reduce)
    torch.testing.assert_close(aggregate_messages(batch, messages, reduce), expected)


@pytest.mark.parametrize("reduce", ["sum", "mean", "max"])
def test_message_gradient_matches_scatter(reduce: str) -> None:
    batch = batch_of(DEGENERATE)
    messages = vectors(batch.num_edges, 3).requires_grad_()
    assert torch.autograd.gradcheck(lambda given: aggregate_messages(batch, given, reduce), messages)


def test_unknown_reduction_raises() -> None:
    with pytest.raises(GraphTrialError, match="cannot aggregate by 'median': use sum, mean or max"):
        aggregate_messages(batch_of(DEGENERATE), torch.zeros(14, 2), "median")
