"""Node indices as positions."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.helpers.samples import DEGENERATE, graph_set, random_graphs
from torch import nn

from graphtrial.core.errors import GraphTrialError
from graphtrial.encodings import node_order
from graphtrial.encodings.node_order import NodeOrder

GRAPHS = graph_set([*DEGENERATE, *random_graphs(20, seed=0)])


def numbers(values: np.ndarray | torch.Tensor) -> np.ndarray:
    array = np.asarray(values)
    assert ((array == 1).sum(axis=1) == 1).all()
    assert ((array == 0).sum(axis=1) == array.shape[1] - 1).all()
    return array.argmax(axis=1)


def test_each_node_has_the_one_hot_vector_of_its_number() -> None:
    expected = [node for count in GRAPHS.node_counts for node in range(count)]
    assert numbers(NodeOrder(12).compute(GRAPHS)).tolist() == expected


def test_linear_layer_on_one_hot_is_an_embedding() -> None:
    table, values = nn.Linear(12, 5), NodeOrder(12).compute(GRAPHS)
    rows = table.weight.T[numbers(values)] + table.bias
    torch.testing.assert_close(table(torch.from_numpy(values)), rows)


def test_random_order_permutes_nodes_within_graphs() -> None:
    encoding = NodeOrder(12, "random")
    values, generator = torch.from_numpy(encoding.compute(GRAPHS)), torch.Generator().manual_seed(1)
    views = [numbers(encoding.training_view(values, generator)) for _ in range(30)]
    for view in views:
        for own in np.split(view, GRAPHS.node_ptr[1:-1]):
            assert sorted(own) == list(range(len(own)))
    assert len({tuple(view) for view in views}) == len(views)
    again = encoding.training_view(values, torch.Generator().manual_seed(1))
    np.testing.assert_array_equal(numbers(again), views[0])


def test_every_order_of_three_nodes_is_equally_likely() -> None:
    encoding = NodeOrder(3, "random")
    values = torch.from_numpy(encoding.compute(graph_set([(3, [])] * 6000)))
    view = numbers(encoding.training_view(values, torch.Generator().manual_seed(0))).reshape(-1, 3)
    _, counts = np.unique(view, axis=0, return_counts=True)
    assert len(counts) == 6
    assert ((counts - 1000) ** 2 / 1000).sum() < 20.5  # chi-squared with 5 degrees of freedom, p = 0.001


def test_fixed_order_uses_no_random_numbers() -> None:
    values, generator = torch.from_numpy(NodeOrder(12).compute(GRAPHS)), torch.Generator().manual_seed(1)
    before = generator.get_state()
    assert NodeOrder(12).training_view(values, generator) is values
    assert torch.equal(generator.get_state(), before)


def test_too_small_k_raises_with_advice() -> None:
    with pytest.raises(GraphTrialError, match=r"up to 9 nodes, but node-order:8 numbers 8; use node-order:9"):
        NodeOrder(8).compute(GRAPHS)


def test_too_large_table_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_order, "MOST_NUMBERS", 100)
    with pytest.raises(GraphTrialError, match="for small graphs"):
        NodeOrder(12).compute(GRAPHS)


def test_invalid_arguments_raise() -> None:
    for k in (0, -1, 2.5, "8", True, None):
        with pytest.raises(GraphTrialError, match="k of NodeOrder must be an integer from 1"):
            NodeOrder(k)  # type: ignore[arg-type]
    with pytest.raises(GraphTrialError, match="order of NodeOrder must be 'fixed' or 'random', not 'shuffled'"):
        NodeOrder(4, "shuffled")  # type: ignore[arg-type]
