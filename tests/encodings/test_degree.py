"""One-hot degrees against PyG."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers.samples import DEGENERATE, graph_set, random_graphs
from torch_geometric.transforms import OneHotDegree

from graphtrial.core.errors import GraphTrialError
from graphtrial.encodings import degree
from graphtrial.encodings.degree import DegreeSE
from graphtrial.graphs import GraphSet, to_pyg

GRAPHS = graph_set(random_graphs(20, seed=5))


@pytest.mark.parametrize("direction", ["in", "out"])
def test_columns_match_pyg(direction: degree.Direction) -> None:
    bare = GraphSet(GRAPHS.structure, {})
    ours = np.split(DegreeSE(30, direction).compute(bare), bare.node_ptr[1:-1])
    transform = OneHotDegree(29, in_degree=direction == "in", cat=False)
    for item, rows in zip(to_pyg(bare), ours, strict=True):
        np.testing.assert_array_equal(rows, transform(item).x.numpy())


def test_last_class_is_open_ended_and_directions_are_concatenated() -> None:
    for graphs in (GRAPHS, graph_set(DEGENERATE)):
        both = DegreeSE(3, "both").compute(graphs)
        np.testing.assert_array_equal(both.argmax(axis=1), np.minimum(graphs.in_degree, 2))
        np.testing.assert_array_equal(both[:, 3:].argmax(axis=1), np.minimum(graphs.out_degree, 2))
        np.testing.assert_array_equal(both.sum(axis=1), 2)


def test_too_large_table_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(degree, "MOST_NUMBERS", 10)
    with pytest.raises(GraphTrialError, match="use a smaller number"):
        DegreeSE(9).compute(GRAPHS)
