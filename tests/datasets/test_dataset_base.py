"""Splits and identity."""

from __future__ import annotations

import numpy as np
import pytest

from graphtrial.core.errors import InvalidGraphError
from graphtrial.datasets.base import Split, check_splits, dataset_hash
from graphtrial.graphs import GraphSet

GRAPHS = GraphSet.build([1] * 4, [0] * 4, np.zeros((2, 0), int))


def split(train: list[int], val: list[int], test: list[int]) -> Split:
    return Split(np.array(train), np.array(val), np.array(test))


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (split([0, 1], [1], [2]), "in two places"),
        (split([0, 0], [1], [2]), "in two places"),
        (split([0], [1], [4]), "outside 0 to 3"),
        (split([-1], [1], [2]), "outside 0 to 3"),
        (split([0], [], [2]), "val part of split 0 is empty"),
        (split([0], [1], [2]), "leaves out 1 of 4"),
    ],
)
def test_invalid_split_raises(bad: Split, message: str) -> None:
    with pytest.raises(InvalidGraphError, match=message):
        check_splits([bad], 4, complete=True)


def test_split_is_read_only() -> None:
    ids = np.array([0, 1])
    built = Split(ids, np.array([2]), np.array([3]))
    with pytest.raises(ValueError):
        built.train[0] = 3
    ids[0] = 3
    assert built.train.tolist() == [0, 1]


def test_content_hash_depends_on_graphs_and_splits() -> None:
    one, two = split([0, 1], [2], [3]), split([0], [1, 2], [3])
    assert dataset_hash(GRAPHS, [one]) == dataset_hash(GRAPHS, [split([0, 1], [2], [3])])
    hashes = {dataset_hash(GRAPHS, s) for s in ([one], [two], [one, two], [two, one])}
    assert len(hashes) == 4
    assert dataset_hash(GRAPHS.subset([0, 1, 2]), [one]) not in hashes
