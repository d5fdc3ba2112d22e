"""A loaded dataset behaves like one of PyG: length, indexing, iteration, parts, conversion, display."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import graphtrial as gt
from graphtrial.core.errors import GraphTrialError, InvalidGraphError
from graphtrial.datasets import DatasetSpec, Source, Split
from graphtrial.datasets.dataset import Dataset
from graphtrial.graphs import Column, GraphBatch, GraphSet
from graphtrial.tasks import GraphClassification, NodeClassification, Task


class Spec(DatasetSpec):
    """Twelve paths & cycles."""

    name, domain, licence, paper, sources = "paths", "test", "MIT", "none", (Source("generated", "generated"),)

    def parse(self, source, raw):  # type: ignore[no-untyped-def]
        raise NotImplementedError

    def split(self, graphs, source, raw):  # type: ignore[no-untyped-def]
        raise NotImplementedError


class NodeSpec(Spec):
    split_level = "node"


def dataset(kind: type[Spec] = Spec, splits: int = 2) -> Dataset:
    sizes = np.arange(2, 14) if kind is Spec else np.array([12])
    edges = np.concatenate([np.stack([np.arange(n - 1), np.arange(1, n)]) for n in sizes], axis=1)
    level = "graph" if kind is Spec else "node"
    columns = {
        "x": Column(np.arange(sizes.sum(), dtype=np.float32)[:, None], "node"),
        "y": Column(np.arange(12) % 2, level),  # type: ignore[arg-type]
    }
    graphs = GraphSet.build(sizes, sizes - 1, edges, columns)
    orders = [np.roll(np.arange(12), 3 * i) for i in range(splits)]
    parts = tuple(Split(order[:6], order[6:9], order[9:]) for order in orders)
    task: Task = GraphClassification(classes=2) if kind is Spec else NodeClassification(classes=2)
    return Dataset("paths", graphs, parts, task, kind(), {})


def test_length_and_iteration_cover_all_graphs() -> None:
    data = dataset()
    assert len(data) == 12
    assert [graph.num_nodes for graph in data] == [graph.num_nodes for graph in data.graphs] == list(range(2, 14))


def test_an_integer_index_returns_one_graph_with_pyg_attributes() -> None:
    data = dataset()
    graph = data[-1]
    assert isinstance(graph, GraphBatch)
    assert graph.x is not None
    assert graph.y is not None
    assert (graph.num_nodes, graph.x.shape, graph.edge_index.shape, graph.y.tolist()) == (13, (13, 1), (2, 12), [1])
    with pytest.raises(InvalidGraphError, match="0 to 11"):
        data[12]


@pytest.mark.parametrize("index", [slice(2, 5), [2, 3, 4], np.arange(12) // 3 == 1], ids=["slice", "list", "mask"])
def test_other_indices_return_a_set(index: object) -> None:
    subset = dataset()[index]
    assert isinstance(subset, GraphSet)
    assert len(subset) == 3


def test_parts_are_those_of_the_split() -> None:
    data = dataset()
    assert [len(part) for part in (data.train, data.val, data.test)] == [6, 3, 3]
    assert data.parts(1)["test"].indices.tolist() == data.splits[1].test.tolist()
    assert [graph.num_nodes for graph in data.val] == [8, 9, 10]
    one = data.val[0]
    assert isinstance(one, GraphBatch)
    assert one.num_nodes == 8
    assert data.train.mask.tolist() == [True] * 6 + [False] * 6
    with pytest.raises(GraphTrialError, match="splits 0 to 1, not 2"):
        data.parts(2)


def test_loader_of_a_part_shuffles_by_its_seed_only() -> None:
    train = dataset().train

    def order(seed: int, epochs: int = 2) -> list[list[int]]:
        loader = train.loader(4, shuffle=True, seed=seed)
        return [[n for batch in loader for n in batch.ptr.diff().tolist()] for _ in range(epochs)]

    assert order(0) == order(0) != order(1)
    assert [sorted(epoch) for epoch in order(0)] == [[2, 3, 4, 5, 6, 7]] * 2
    assert [batch.num_graphs for batch in train.loader(4)] == [4, 2]


def test_part_of_nodes_selects_rows_of_the_whole_graph() -> None:
    data = dataset(NodeSpec)
    (batch,) = data.val.loader()
    assert batch.num_nodes == 12
    assert torch.equal(batch.target_index, data.val.mask.nonzero().squeeze(1))
    for use in (lambda: data.val[0], lambda: list(data.val), data.val.to_pyg):
        with pytest.raises(GraphTrialError, match="nodes of one graph"):
            use()


@pytest.mark.parametrize("splits", [1, 2])
def test_conversion_to_pyg_has_the_splits(splits: int) -> None:
    pytest.importorskip("torch_geometric")
    items = dataset(splits=splits).to_pyg()
    assert items[-1].split == ("test" if splits == 1 else ["test", "train"])
    assert len(dataset().train.to_pyg()) == 6
    (item,) = dataset(NodeSpec, splits).to_pyg()
    masks = [item[f"{part}_mask"].reshape(12, -1) for part in ("train", "val", "test")]
    for number, split in enumerate(dataset(NodeSpec, splits).splits):
        assert [mask[:, number].nonzero().squeeze(1).tolist() for mask in masks] == [
            sorted(ids.tolist()) for ids in split.parts.values()
        ]
    again = gt.from_pyg([item])
    assert again.column("part").values.shape == ((12,) if splits == 1 else (12, 2))


def test_display_in_notebooks_escapes_the_metadata() -> None:
    shown = dataset()._repr_html_()
    assert "Twelve paths &amp; cycles." in shown
    assert "6 train, 3 val, 3 test graphs" in shown
    assert "2 splits" in shown
