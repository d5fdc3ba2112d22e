"""Labelled pairs of PyG data: a single graph with queries and masks, and attributes that do not fit."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from graphtrial.core.errors import InvalidGraphError
from graphtrial.graphs import from_pyg, to_pyg

pyg = pytest.importorskip("torch_geometric.data")
PAIRS = torch.tensor([[0, 1, 2, 2], [1, 2, 0, 1]])


def data(**changed: Any) -> Any:
    given = {"edge_label_index": PAIRS, "edge_label": torch.tensor([1, 1, 1, 0]), **changed}
    present = {name: value for name, value in given.items() if value is not None}
    return pyg.Data(edge_index=PAIRS[:, :2], num_nodes=3, **present)


def test_single_graph_with_queries_and_masks() -> None:
    masks = {f"{part}_mask": torch.tensor([0, 1, 2, 2]) == i for i, part in enumerate(("train", "val", "test"))}
    item = data(query=torch.tensor([0, 1, 2, 2]), **masks)
    graphs = from_pyg(item)
    assert {name: column.level for name, column in graphs.columns.items()} == dict.fromkeys(
        ("pairs", "y", "query", "part"), "pair"
    )
    assert graphs.column("part").values.tolist() == [0, 1, 2, 2]
    (again,) = to_pyg(graphs)
    for name in ("edge_label_index", "edge_label", "query", "train_mask", "val_mask", "test_mask"):
        assert again[name].tolist() == item[name].tolist()


def test_other_targets_take_precedence() -> None:
    graphs = from_pyg(data(y=torch.tensor([0, 1, 1])))
    assert graphs.column("y").level == "node"
    assert "pairs" not in graphs.columns


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"edge_label": None}, "graph 1: 'edge_label' must have one value for each of 4 pairs; there are none"),
        ({"edge_label": torch.ones(3)}, "for each of 4 pairs; there are 3 values"),
        ({"edge_label": torch.tensor([1, 0, 2, 0])}, "must be 1 for a link and 0"),
        ({"edge_label_index": PAIRS.T}, r"graph 1: 'edge_label_index' must be integers of shape \[2, pairs\]"),
        ({"edge_label_index": PAIRS.float()}, "must be integers"),
        ({"edge_label_index": PAIRS + 1}, r"graph 1 has 3 nodes, but 'edge_label_index' has the pair \[2, 3\]"),
        ({"edge_label_index": PAIRS - 1}, r"the pair \[-1, 0\]"),
    ],
)
def test_attributes_that_do_not_fit_name_the_graph(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidGraphError, match=message):
        from_pyg([data(), data(**changed)])


def test_queries_are_integers_of_pairs() -> None:
    for query, message in ((torch.zeros(4), "must be integers"), (torch.zeros(3).long(), "each of 4 pairs")):
        with pytest.raises(InvalidGraphError, match=message):
            from_pyg(data(query=query))
