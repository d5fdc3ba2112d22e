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


@pytest.mark.parametrize("given", GIVEN.values(), ids=GIVEN)
@pytest.mark.parametrize("heads", [(), (3,)], ids=["one weight", "heads"])
def test_weighted_aggregation_matches_scatter(given: list[Graph], heads: tuple[int, ...]) -> None:
    batch = batch_of(given)
    messages = vectors(batch.num_edges, 15).reshape(-1, *heads, 15 // (heads or (1,))[0])
    weight = vectors(batch.num_edges, 3, 1)[:, : (heads or (1,))[0]].reshape(-1, *heads)
    products = messages * weight.unsqueeze(-1)
    expected = scatter(products, batch.edge_index[1], dim=0, dim_size=batch.num_nodes, reduce="sum")
    torch.testing.assert_close(aggregate_messages(batch, messages, weight=weight), expected)
    if batch.num_edges:
        inputs = messages.requires_grad_(), weight.requires_grad_()
        assert torch.autograd.gradcheck(lambda m, w: aggregate_messages(batch, m, weight=w), inputs)


def test_weights_of_other_reductions_raise() -> None:
    with pytest.raises(GraphTrialError, match="weights of messages need reduce='sum'"):
        aggregate_messages(batch_of(DEGENERATE), torch.zeros(14, 2), "mean", torch.ones(14))


def test_unknown_reduction_raises() -> None:
    with pytest.raises(GraphTrialError, match="cannot aggregate by 'median': use sum, mean or max"):
        aggregate_messages(batch_of(DEGENERATE), torch.zeros(14, 2), "median")
