"""Seeded splits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets.base import check_splits
from graphtrial.datasets.splits import consecutive_split, split_from_parts, stratified_folds, stratified_split

CLASSES = np.repeat([0, 1, 2], [50, 33, 17])


@given(st.lists(st.integers(0, 3), min_size=12, max_size=80), st.integers(3, 10), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_folds_test_every_example_once_and_are_stratified(labels: list[int], count: int, seed: int) -> None:
    classes = np.array(labels)
    built = stratified_folds(classes, count, seed)
    check_splits(built, len(classes), complete=True)
    assert sorted(np.concatenate([split.test for split in built]).tolist()) == list(range(len(classes)))
    for label in np.unique(classes):
        tested = [int((classes[split.test] == label).sum()) for split in built]
        assert max(tested) - min(tested) <= 1


def test_split_fractions_hold_per_class() -> None:
    split = stratified_split(CLASSES, (0.7, 0.2, 0.1), seed=4)
    check_splits([split], 100, complete=True)
    for part, fraction in zip(split.parts.values(), (0.7, 0.2, 0.1), strict=True):
        counts = np.bincount(CLASSES[part], minlength=3)
        assert (np.abs(counts - fraction * np.array([50, 33, 17])) < 1).all()


def test_seeds_give_different_reproducible_splits() -> None:
    built = [stratified_split(CLASSES, (0.8, 0.1, 0.1), seed).test.tolist() for seed in (0, 0, 1)]
    assert built[0] == built[1] != built[2]
    assert [s.test.tolist() for s in stratified_folds(CLASSES, 5, 0)] != [
        s.test.tolist() for s in stratified_folds(CLASSES, 5, 1)
    ]


def test_consecutive_and_column_splits_are_correct() -> None:
    assert [ids.tolist() for ids in consecutive_split([2, 1, 3]).parts.values()] == [[0, 1], [2], [3, 4, 5]]
    split = split_from_parts(np.array([2, 0, 3, 1, 0]))
    assert [ids.tolist() for ids in split.parts.values()] == [[1, 4], [3], [0]]


@pytest.mark.parametrize("fractions", [(0.5, 0.5), (0.8, 0.2, 0.0), (0.8, 0.1, 0.2)])
def test_invalid_fractions_raise(fractions: tuple[float, ...]) -> None:
    with pytest.raises(GraphTrialError, match="three fractions"):
        stratified_split(CLASSES, fractions, 0)


def test_too_few_or_too_many_folds_raise() -> None:
    with pytest.raises(GraphTrialError, match="at least 3"):
        stratified_folds(CLASSES, 2, 0)
    with pytest.raises(GraphTrialError, match="too few for 5 folds"):
        stratified_folds(CLASSES[:4], 5, 0)
