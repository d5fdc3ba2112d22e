"""PyG data become datasets of one's own in one call."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

import graphtrial as gt
from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets import custom

Data = pytest.importorskip("torch_geometric.data").Data


def path_graph(nodes: int, **attributes: object) -> object:
    index = torch.arange(nodes - 1)
    return Data(edge_index=torch.stack([index, index + 1]), x=torch.randn(nodes, 3), num_nodes=nodes, **attributes)


@pytest.fixture
def name(own_home: Path) -> Iterator[str]:
    yield "from-pyg"
    custom.delete("from-pyg")


def test_a_single_data_object_need_not_be_in_a_list() -> None:
    item = path_graph(5, y=torch.arange(5) % 2)
    assert gt.from_pyg(item).content_hash == gt.from_pyg([item]).content_hash


def test_a_name_registers_the_dataset_with_its_masks(name: str) -> None:
    masks = {f"{part}_mask": torch.arange(12) % 3 == i for i, part in enumerate(("train", "val", "test"))}
    dataset = gt.from_pyg(path_graph(12, y=torch.arange(12) % 2, **masks), name)
    assert gt.load(name).hash == dataset.hash
    assert [len(part) for part in gt.load(name).parts().values()] == [4, 4, 4]
    assert torch.equal(gt.load(name).val.mask, masks["val_mask"])
    with pytest.raises(GraphTrialError, match="already"):
        gt.from_pyg(path_graph(12, y=torch.arange(12) % 2, **masks), name)


def test_task_and_split_are_those_given(name: str) -> None:
    items = [path_graph(3 + i % 4, y=torch.tensor([[0.0, 1.0, float("nan")]])) for i in range(20)]
    task = "graph-binary-classification:metric=average-precision"
    dataset = gt.from_pyg(items, name, task=task, split={"folds": 4, "seed": 0})
    assert (dataset.task.outputs, dataset.task.metric.title, len(dataset.splits)) == (3, "AP", 4)
