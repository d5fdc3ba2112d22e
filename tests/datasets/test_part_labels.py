"""Labels that leave a metric undefined, or that are no labels at all, are one line before any training."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import graphtrial as gt
from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets import part_labels
from graphtrial.datasets.base import DATASETS
from graphtrial.datasets.custom import delete, names
from graphtrial.datasets.part_labels import check_part_labels

Data = pytest.importorskip("torch_geometric.data").Data
RING = torch.stack([torch.arange(6), torch.arange(6).roll(1)])
NAN = math.nan


@pytest.fixture(autouse=True)
def forget(own_home: Path) -> Iterator[None]:
    yield
    part_labels._checked.clear()
    for name in names():
        delete(name)
        DATASETS.remove(name)


def part(i: int) -> str:
    return "train" if i < 12 else "val" if i < 18 else "test"


def dataset(labels: Callable[[int], list[float]], **options: Any) -> gt.Dataset:
    """24 rings, of which the last 6 are the test part."""
    graphs = [Data(edge_index=RING, num_nodes=6, y=torch.tensor([labels(i)]), split=part(i)) for i in range(24)]
    return gt.from_pyg(graphs, "mine", **options)


def test_one_class_in_a_part_is_refused_before_training() -> None:
    mine = dataset(lambda i: [1.0 if i >= 18 else i % 2])
    with pytest.raises(
        GraphTrialError, match=r"ROC-AUC is undefined on the test part of split 0 of mine: its 6 .* but 1"
    ):
        check_part_labels(mine, 0)
    with pytest.raises(GraphTrialError, match="ROC-AUC is undefined on the test part"):
        gt.run("mine", "gcn", budget="5k", seeds=1, workers=0)


def test_missing_labels_of_a_part_are_refused() -> None:
    mine = dataset(lambda i: [NAN if 12 <= i < 18 else i % 2])
    with pytest.raises(GraphTrialError, match=r"undefined on the val part .* have no label;"):
        check_part_labels(mine, 0)


def test_columns_that_a_part_leaves_out_are_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    mine = dataset(lambda i: [i % 2, NAN, 1.0 if i >= 18 else i % 2])
    with caplog.at_level(logging.WARNING):
        check_part_labels(mine, 0)
        check_part_labels(mine, 0)
    (record,) = caplog.records
    assert record.getMessage().endswith("needs: of train 1; of val 1; of test 1, 2")


def test_nodes_of_many_graphs_are_those_of_the_graphs_of_a_part() -> None:
    labels = [torch.full((6, 1), 1.0) if i >= 18 else torch.arange(6.0)[:, None] % 2 for i in range(24)]
    graphs = [Data(edge_index=RING, num_nodes=6, y=y, split=part(i)) for i, y in enumerate(labels)]
    mine = gt.from_pyg(graphs, "mine")
    assert mine.task.name == "node-binary-classification"
    with pytest.raises(GraphTrialError, match="test part of split 0 of mine: its 36 examples"):
        check_part_labels(mine, 0)


def test_built_in_data_pass() -> None:
    check_part_labels(gt.load("csl"), 0)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (lambda i: [1.0], "every target `y` is 1: there is nothing to learn"),
        (lambda i: [NAN], "every target `y` is missing"),
        (lambda i: [i % 3 - 1], "the integers `y` go down to -1, but classes count from 0"),
    ],
    ids=["constant", "missing", "negative"],
)
def test_targets_from_which_no_task_follows_are_refused(labels: Callable[[int], list[float]], message: str) -> None:
    with pytest.raises(GraphTrialError, match=message):
        dataset(labels)


def test_negative_integers_are_regressed_on_request() -> None:
    assert dataset(lambda i: [i % 3 - 1], task="graph-regression").task.name == "graph-regression"


@pytest.mark.parametrize("items", ["cora", 5, [1, 2]])
def test_what_is_no_data_is_refused(items: Any) -> None:
    with pytest.raises(GraphTrialError, match=r"not a torch_geometric\.data\.Data"):
        gt.from_pyg(items, "mine")
