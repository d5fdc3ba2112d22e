"""One fold of a support vector machine, against scikit-learn used by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import SVC

from graphtrial.core.errors import GraphTrialError, UnknownNameError
from graphtrial.core.spec import Component
from graphtrial.execution import run_trials
from graphtrial.studies import ModelEntry, Study
from graphtrial.svm.cross_validation import select_and_test
from graphtrial.svm.folds import draw_fold, nested_fold
from graphtrial.svm.rules import KernelFoldRules
from graphtrial.trials import Store
from graphtrial.trials.kinds import rules_from
from graphtrial.trials.kinds.kernel_fold import KernelFold


@pytest.fixture
def points() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    return rng.normal(size=(90, 4)) + y[:, None], y


def test_best_validation_candidate_is_selected_first_on_ties(points: tuple[np.ndarray, np.ndarray]) -> None:
    x, y = points
    useless, good = np.eye(len(x)), x @ x.T
    rules = KernelFoldRules(penalties=(10.0, 1.0, 0.1))
    fold = draw_fold(len(x), rules, fold=0, seed=1)
    choice = select_and_test([useless, good], y, fold, rules)
    table = []
    for gram in (useless, good):
        row = []
        for penalty in rules.penalties:
            machine = SVC(kernel="precomputed", C=penalty).fit(gram[np.ix_(fold.train, fold.train)], y[fold.train])
            row.append(100 * machine.score(gram[np.ix_(fold.val, fold.train)], y[fold.val]))
        table.append(row)
    np.testing.assert_allclose(choice.validation, table)
    number, column = np.unravel_index(np.argmax(table), (2, 3))
    assert (choice.matrix, choice.penalty) == (number, rules.penalties[column])
    machine = SVC(kernel="precomputed", C=choice.penalty).fit(good[np.ix_(fold.train, fold.train)], y[fold.train])
    assert choice.scores["test"] == pytest.approx(
        100 * machine.score(good[np.ix_(fold.test, fold.train)], y[fold.test])
    )
    assert select_and_test([good, good], y, fold, rules).matrix == 0


def test_linear_svm_accepts_sparse_features(points: tuple[np.ndarray, np.ndarray]) -> None:
    x, y = points
    rules = KernelFoldRules(machine="linear")
    choice = select_and_test([sparse.csr_matrix(x)], y, draw_fold(len(x), rules, fold=2, seed=0), rules)
    assert choice.scores["train"] > 55


@pytest.mark.parametrize(
    "wrong", [{"folds": 1}, {"validation": 1.0}, {"h": []}, {"penalties": [0.0]}, {"machine": "forest"}]
)
def test_invalid_svm_rules_raise(wrong: dict[str, object]) -> None:
    with pytest.raises(GraphTrialError):
        KernelFoldRules.from_dict(wrong)


def test_rules_round_trip() -> None:
    rules = KernelFoldRules(h=(2,), machine="linear")
    assert rules_from(rules.to_dict()) == rules
    with pytest.raises(UnknownNameError, match="Did you mean 'folds'"):
        KernelFoldRules.from_dict({"fold": 3})


def test_iterations_are_selected_unless_given() -> None:
    assert "h" not in KernelFold(KernelFoldRules()).resolve(Component("wl")).arguments
    assert KernelFold(KernelFoldRules()).resolve(Component("wl", {"h": 2})).arguments["h"] == 2
    with pytest.raises(UnknownNameError, match="has no setting 'depth'"):
        KernelFold(KernelFoldRules()).resolve(Component("wl", {"depth": 2}))
    with pytest.raises(GraphTrialError, match="leave it out"):
        KernelFold(KernelFoldRules()).resolve(Component("wl", {"output": "gram"}))


@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, 1])
def test_kernel_trials_record_the_selection_per_fold(tmp_path: Path, workers: int) -> None:
    study = Study(
        "kernels",
        "csl",
        (ModelEntry("wl", {"node_labels": False}),),
        protocol="tudataset/kernel-svm",
        seeds=1,
        splits=2,
    )
    store = Store(tmp_path / "store.sqlite")
    trials = study.trials()
    run_trials(trials, store, workers=workers)
    records = store.trials()
    assert [record.status for record in records] == ["done", "done"]
    assert {record.id for record in records} == {trial.id for trial in trials}
    for record in records:
        assert record.scores["test"] < 30  # all graphs look alike to refinement, there are ten classes
        assert record.details["h"] == 0  # the first of equals
        assert set(record.details["validation"]) == {"0", "1", "2", "3", "4", "5"}
    assert [trial.id for trial in study.trials()] == [trial.id for trial in trials]


def test_kernel_rejects_encodings_and_requires_classes(tmp_path: Path) -> None:
    wrong = Study("kernels", "csl", (ModelEntry("wl", {}, ("laplacian:2",)),), protocol="tudataset/kernel-svm")
    with pytest.raises(GraphTrialError, match="takes neither an encoding nor a budget"):
        wrong.trials()


@pytest.mark.parametrize("machine", ["svc", "linear"])
def test_selection_is_blind_to_the_test_set_and_refits_on_all_the_rest(
    points: tuple[np.ndarray, np.ndarray], machine: Literal["svc", "linear"]
) -> None:
    x, y = points
    rules = KernelFoldRules(penalties=(10.0, 0.1), machine=machine, fold_seed=0, refit=True)
    fold = nested_fold(y, rules, fold=2, seed=1)
    matrices = (
        [np.eye(len(x)), x @ x.T] if machine == "svc" else [sparse.csr_matrix(np.eye(len(x))), sparse.csr_matrix(x)]
    )
    chosen = select_and_test(matrices, y, fold, rules)
    garbled = y.copy()
    garbled[fold.test] = (y[fold.test] + 1) % 3
    blind = select_and_test(matrices, garbled, fold, rules)
    assert (blind.matrix, blind.penalty, blind.validation) == (chosen.matrix, chosen.penalty, chosen.validation)
    assert {part: blind.scores[part] for part in ("train", "val")} == {
        part: chosen.scores[part] for part in ("train", "val")
    }
    assert blind.scores["test"] != chosen.scores["test"]
    assert chosen.scores["val"] == max(max(row) for row in chosen.validation)
    if machine == "svc":
        rest = np.sort(np.concatenate([fold.train, fold.val]))
        gram = matrices[chosen.matrix]
        fitted = SVC(C=chosen.penalty, kernel="precomputed").fit(gram[np.ix_(rest, rest)], y[rest])
        correct = fitted.predict(gram[np.ix_(fold.test, rest)]) == y[fold.test]
        assert chosen.scores["test"] == pytest.approx(100 * correct.mean())
