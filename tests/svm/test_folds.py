"""Folds drawn by NumPy, against scikit-learn."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split

from graphtrial.core.errors import GraphTrialError
from graphtrial.svm.folds import draw_fold, nested_fold
from graphtrial.svm.rules import KernelFoldRules
from graphtrial.training import PROTOCOLS
from graphtrial.trials.kinds import kind_of

DRAWN = [name for name in PROTOCOLS.names() if kind_of(PROTOCOLS.get(name).rules).draws_folds]
SIZES = (11, 95, 188, 600, 1113, 4110)


def by_scikit_learn(examples: int, rules: KernelFoldRules, fold: int, seed: int) -> tuple[np.ndarray, ...]:
    division = KFold(rules.folds, shuffle=True, random_state=seed % 2**32).split(np.zeros(examples))
    rest, test = list(division)[fold]
    train, val = train_test_split(rest, test_size=rules.validation, random_state=(seed * rules.folds + fold) % 2**32)
    return train, val, test


def test_protocols_with_drawn_folds_are_tested() -> None:
    assert {"tudataset/kernel-svm", "tudataset/kernel-linear", "tudataset/gnn", "tudataset/gnn-large"} <= set(DRAWN)


@pytest.mark.parametrize("name", DRAWN)
def test_folds_match_scikit_learn_for_every_protocol_seed(name: str) -> None:
    protocol = PROTOCOLS.get(name)
    folds = kind_of(protocol.rules).split_count(None)
    assert folds is not None
    rules = KernelFoldRules(folds=folds)
    for examples in SIZES:
        for seed in protocol.seeds:
            for fold in range(folds):
                drawn = draw_fold(examples, rules, fold=fold, seed=seed)
                for ours, theirs in zip(drawn, by_scikit_learn(examples, rules, fold, seed), strict=True):
                    np.testing.assert_array_equal(ours, theirs)
                    assert ours.dtype == theirs.dtype


@pytest.mark.parametrize("seed", [*PROTOCOLS.get("tudataset/gnn").first_seeds(13)[10:], 2**31 - 1, 2**33 + 5])
@pytest.mark.parametrize(("folds", "validation"), [(2, 0.1), (5, 0.25), (7, 0.999)])
def test_folds_match_scikit_learn_for_other_seeds_and_fractions(seed: int, folds: int, validation: float) -> None:
    rules = KernelFoldRules(folds=folds, validation=validation)
    for fold in range(folds):
        drawn = draw_fold(2003, rules, fold=fold, seed=seed)
        for ours, theirs in zip(drawn, by_scikit_learn(2003, rules, fold, seed), strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_folds_partition_examples_and_depend_on_the_seed_alone() -> None:
    rules = KernelFoldRules()
    folds = [draw_fold(95, rules, fold=number, seed=4) for number in range(10)]
    assert sorted(np.concatenate([fold.test for fold in folds]).tolist()) == list(range(95))
    for fold in folds:
        assert sorted([*fold.train, *fold.val, *fold.test]) == list(range(95))
        assert len(fold.val) == pytest.approx(0.1 * (95 - len(fold.test)), abs=1)
    again = draw_fold(95, rules, fold=3, seed=4)
    assert all(np.array_equal(a, b) for a, b in zip(again, folds[3], strict=True))
    assert not np.array_equal(draw_fold(95, rules, fold=3, seed=5).test, folds[3].test)


def test_invalid_folds_raise() -> None:
    with pytest.raises(GraphTrialError, match="there is no fold 10"):
        draw_fold(95, KernelFoldRules(), fold=10, seed=0)
    with pytest.raises(GraphTrialError, match="9 graphs cannot be divided into 10 folds"):
        draw_fold(9, KernelFoldRules(), fold=0, seed=0)
    with pytest.raises(GraphTrialError, match="leave none to train on"):
        draw_fold(2, KernelFoldRules(folds=2), fold=0, seed=0)


WITHOUT = """
import sys
sys.modules["sklearn"] = None  # every import of it fails
from pathlib import Path
from graphtrial.studies import ModelEntry, Study
from graphtrial.trials import run_trial
row = ModelEntry("gin-eps", {"width": 4, "layers": 1})
study = Study("s", "csl", (row,), "tudataset/gnn", seeds=1, splits=1, rules={"stopping.max_epochs": 1})
(trial,) = study.trials()
outcome = run_trial(trial, Path(sys.argv[1]))
assert outcome.status == "done" and outcome.scores.keys() == {"train", "val", "test"}
try:
    import sklearn
except ImportError:
    print("without scikit-learn")
"""


def test_network_with_drawn_folds_needs_no_scikit_learn(tmp_path: object) -> None:
    words = [sys.executable, "-c", WITHOUT, f"{tmp_path}/checkpoint"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout.strip() == "without scikit-learn", done.stderr


@pytest.mark.parametrize(
    "classes", [np.arange(600) % 6, np.random.default_rng(0).choice([7, 3, 5], 211, p=[0.6, 0.3, 0.1])]
)
def test_nested_folds_match_stratified_folds_of_scikit_learn(classes: np.ndarray) -> None:
    rules = KernelFoldRules(fold_seed=5)
    outer = list(StratifiedKFold(10, shuffle=True, random_state=5).split(classes, classes))
    for fold, (rest, test) in enumerate(outer):
        for seed in (0, 2, 2**31 - 1):
            train, val, tested = nested_fold(classes, rules, fold=fold, seed=seed)
            inner = StratifiedKFold(10, shuffle=True, random_state=(seed * 10 + fold) % 2**32)
            inner_train, held_out = next(inner.split(rest, classes[rest]))
            np.testing.assert_array_equal(tested, test)
            np.testing.assert_array_equal(val, rest[held_out])
            np.testing.assert_array_equal(train, rest[inner_train])


def test_nested_folds_are_the_same_for_every_seed_and_validation_sets_are_not() -> None:
    classes, rules = np.arange(120) % 4, KernelFoldRules(fold_seed=0)
    one, other = (nested_fold(classes, rules, fold=3, seed=seed) for seed in (0, 1))
    np.testing.assert_array_equal(one.test, other.test)
    assert set(one.val.tolist()) != set(other.val.tolist())
    assert sorted(np.concatenate(one).tolist()) == list(range(120))
    with pytest.raises(GraphTrialError, match="there are folds 0 to 9"):
        nested_fold(classes, rules, fold=10, seed=0)
    with pytest.raises(GraphTrialError, match="too few for a validation set"):
        nested_fold(np.zeros(10), rules, fold=0, seed=0)
