"""Seeded splits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets.base import check_splits
from graphtrial.datasets.splits import by_ratio, folds, in_turn, parts_as_given

CLASSES = np.repeat([0, 1, 2], [50, 33, 17])


@given(st.lists(st.integers(0, 3), min_size=12, max_size=80), st.integers(3, 10), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_folds_test_everything_once_and_keep_the_shares(labels: list[int], count: int, seed: int) -> None:
    classes = np.array(labels)
    made = folds(classes, count, seed)
    check_splits(made, len(classes), complete=True)
    assert sorted(np.concatenate([split.test for split in made]).tolist()) == list(range(len(classes)))
    for label in np.unique(classes):
        tested = [int((classes[split.test] == label).sum()) for split in made]
        assert max(tested) - min(tested) <= 1


def test_shares_hold_in_every_class() -> None:
    split = by_ratio(CLASSES, (0.7, 0.2, 0.1), seed=4)
    check_splits([split], 100, complete=True)
    for part, share in zip(split.parts.values(), (0.7, 0.2, 0.1), strict=True):
        counts = np.bincount(CLASSES[part], minlength=3)
        assert (np.abs(counts - share * np.array([50, 33, 17])) < 1).all()


def test_seeds_differ_and_repeat() -> None:
    made = [by_ratio(CLASSES, (0.8, 0.1, 0.1), seed).test.tolist() for seed in (0, 0, 1)]
    assert made[0] == made[1] != made[2]
    assert [s.test.tolist() for s in folds(CLASSES, 5, 0)] != [s.test.tolist() for s in folds(CLASSES, 5, 1)]


def test_parts_in_turn_and_as_given() -> None:
    assert [ids.tolist() for ids in in_turn([2, 1, 3]).parts.values()] == [[0, 1], [2], [3, 4, 5]]
    split = parts_as_given(np.array([2, 0, 3, 1, 0]))
    assert [ids.tolist() for ids in split.parts.values()] == [[1, 4], [3], [0]]


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.8, 0.2, 0.0), (0.8, 0.1, 0.2)])
def test_shares_that_are_none_are_refused(shares: tuple[float, ...]) -> None:
    with pytest.raises(GraphTrialError, match="three shares"):
        by_ratio(CLASSES, shares, 0)


def test_too_few_or_too_many_folds_are_refused() -> None:
    with pytest.raises(GraphTrialError, match="3 at least"):
        folds(CLASSES, 2, 0)
    with pytest.raises(GraphTrialError, match="cannot be dealt"):
        folds(CLASSES[:4], 5, 0)
