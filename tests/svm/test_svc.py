"""Our support vector machines, against those of LIBSVM in scikit-learn."""

from __future__ import annotations

import platform
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

from graphtrial.core.errors import GraphTrialError
from graphtrial.svm import smo
from graphtrial.svm.newton import newton_steps
from graphtrial.svm.svc import PrecomputedSVC

PENALTIES = (1e3, 1e2, 1e1, 1.0, 1e-1, 1e-2, 1e-3)
FUSES = platform.machine() not in ("x86_64", "AMD64")
"""Elsewhere the compiler of LIBSVM may have joined products and sums."""


NEVER = 10**9
"""So many steps before examples are left out that none ever are."""


def data(seed: int, examples: int, classes: int, spread: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """A Gram matrix with length 1 on the diagonal, as of normalised kernels, and classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, examples)
    x = rng.normal(size=(examples, 5)) + spread * y[:, None] * np.array([1, -1, 0, 1, 0])
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return x @ x.T, y


def libsvm(gram: np.ndarray, y: np.ndarray, train: np.ndarray, penalty: float, **options: bool) -> SVC:
    return SVC(kernel="precomputed", C=penalty, tol=1e-3, **options).fit(gram[np.ix_(train, train)], y[train])


@pytest.mark.slow
@pytest.mark.parametrize(("examples", "spread"), [(40, 0.2), (200, 0.5), (300, 4.0)])
def test_binary_svm_matches_libsvm_bit_exact(examples: int, spread: float) -> None:
    gram, y = data(1, examples, 2, spread)
    train, test = np.arange(0, examples, 2), np.arange(1, examples, 2)
    trainer = PrecomputedSVC(gram, train, y, shrink_interval=NEVER)
    for penalty in PENALTIES:
        theirs = libsvm(gram, y, train, penalty, shrinking=False)
        (part,) = trainer.fit(penalty).binary
        shown = np.zeros(len(gram))
        shown[part.ids] = part.dual_coef
        expected = np.zeros(len(gram))
        expected[train[theirs.support_]] = -theirs.dual_coef_[0]  # scikit-learn turns the sign for two classes
        mine = trainer.fit(penalty).predict(test)
        if FUSES:
            np.testing.assert_allclose(shown @ gram, expected @ gram, atol=5e-3)
            continue
        np.testing.assert_array_equal(shown, expected)
        assert part.bias == -theirs.intercept_[0]
        np.testing.assert_array_equal(mine, theirs.predict(gram[np.ix_(test, train)]))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(20, 90), st.integers(2, 5), st.sampled_from([0.0, 0.3, 3.0]))
def test_several_classes_vote_as_in_libsvm(seed: int, examples: int, classes: int, spread: float) -> None:
    gram, y = data(seed, examples, classes, spread)
    train, test = np.arange(0, examples, 2), np.arange(1, examples, 2)
    if len(np.unique(y[train])) < 2:
        return
    trainer = PrecomputedSVC(gram, train, y, shrink_interval=NEVER)
    for penalty in (0.01, 100.0, 1.0):
        theirs = libsvm(gram, y, train, penalty, shrinking=False).predict(gram[np.ix_(test, train)])
        alike = trainer.fit(penalty).predict(test) == theirs
        assert alike.all() or (FUSES and alike.mean() > 0.9)


@pytest.mark.slow
@pytest.mark.parametrize("shrink_interval", [10, 50, NEVER])
def test_shrinking_changes_decisions_within_tolerance(shrink_interval: int) -> None:
    gram, y = data(3, 600, 2, 0.4)
    train = np.arange(0, 600, 2)
    trainer = PrecomputedSVC(gram, train, y, shrink_interval)
    for penalty in PENALTIES:
        (part,) = trainer.fit(penalty).binary
        mine = gram[:, part.ids] @ part.dual_coef + part.bias
        theirs = -libsvm(gram, y, train, penalty, shrinking=True).decision_function(gram[:, train])
        np.testing.assert_allclose(mine, theirs, atol=5e-3)


@pytest.mark.slow
@pytest.mark.parametrize("penalty", [1e2, 1e3, 1e4])
def test_newton_steps_reach_the_same_decisions(penalty: float, monkeypatch: pytest.MonkeyPatch) -> None:
    gram, y = data(4, 400, 2, 0.3)
    train = np.arange(0, 400, 2)
    moves: list[bool] = []

    def counted(*given: Any) -> bool:
        moves.append(newton_steps(*given))
        return moves[-1]

    monkeypatch.setattr(smo, "newton_steps", counted)
    (part,) = PrecomputedSVC(gram, train, y, shrink_interval=40).fit(penalty).binary
    assert any(moves)
    mine = gram[:, part.ids] @ part.dual_coef + part.bias
    theirs = -libsvm(gram, y, train, penalty, shrinking=False).decision_function(gram[:, train])
    np.testing.assert_allclose(mine, theirs, atol=5e-3)
    assert abs(part.dual_coef.sum()) < 1e-6 * penalty
    assert np.abs(part.dual_coef).max() <= penalty


def test_newton_step_solves_the_free_multipliers() -> None:
    gram, y = data(5, 60, 2, 0.5)
    gram = gram + 0.1 * np.eye(60)
    sign = np.where(y > 0, 1.0, -1.0)
    for penalty in (1e6, 1.0):
        weight = np.full(60, 0.5)
        weight[sign > 0] *= (sign < 0).sum() / (sign > 0).sum()
        margins = sign - gram @ (sign * weight)
        before = 0.5 * (sign * weight) @ gram @ (sign * weight) - weight.sum()
        assert newton_steps(gram, sign, weight, margins, penalty)
        np.testing.assert_allclose(margins, sign - gram @ (sign * weight), atol=1e-9)
        assert (weight >= 0).all()
        assert (weight <= penalty).all()
        assert sign @ weight == pytest.approx(0, abs=1e-9)
        assert 0.5 * (sign * weight) @ gram @ (sign * weight) - weight.sum() < before


def test_unreached_c_gives_the_same_solution_in_any_order() -> None:
    gram, y = data(2, 120, 2, 6.0)
    gram = gram + np.eye(120)  # any labels can be told apart
    ids = np.arange(120)
    falling, rising = PrecomputedSVC(gram, ids, y), PrecomputedSVC(gram, ids, y)
    parts = {penalty: falling.fit(penalty).binary[0] for penalty in PENALTIES}
    assert parts[1e3] is parts[1e2] is parts[1e1]
    assert parts[1e-2] is not parts[1e-3]
    for penalty in reversed(PENALTIES):
        (part,) = rising.fit(penalty).binary
        np.testing.assert_array_equal(part.dual_coef, parts[penalty].dual_coef)
        assert part.bias == parts[penalty].bias


def test_degenerate_kernels_converge() -> None:
    y = np.arange(30) % 2
    for gram in (np.ones((30, 30)), np.zeros((30, 30)), np.kron(np.eye(3), np.ones((10, 10)))):
        trainer = PrecomputedSVC(gram, np.arange(30), y, shrink_interval=NEVER)
        for penalty in PENALTIES:
            mine = trainer.fit(penalty).predict(np.arange(30))
            theirs = libsvm(gram, y, np.arange(30), penalty, shrinking=False).predict(gram)
            assert FUSES or np.array_equal(mine, theirs)
        assert len(PrecomputedSVC(gram, np.arange(30), y, shrink_interval=3).fit(10.0).predict(np.arange(30))) == 30


def test_iteration_limit_warns(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    gram, y = data(4, 400, 2, 0.3)
    monkeypatch.setattr(smo, "MAX_ITERATIONS", 100)
    (part,) = PrecomputedSVC(gram, np.arange(400), y, shrink_interval=20).fit(1e4).binary
    assert "did not converge in 100 iterations" in caplog.text
    assert np.abs(part.dual_coef).max() <= 1e4
    assert abs(part.dual_coef.sum()) < 1e-6


def test_single_class_is_always_predicted() -> None:
    machine = PrecomputedSVC(np.eye(6), np.arange(4), np.array([2, 2, 2, 2, 5, 5])).fit(1.0)
    assert machine.predict(np.arange(6)).tolist() == [2] * 6


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 1e300])
def test_matrix_that_is_not_finite_raises(wrong: float) -> None:
    gram = np.eye(6)
    gram[1, 2] = wrong
    with pytest.raises(GraphTrialError, match="not finite, or too large"):
        PrecomputedSVC(gram, np.arange(6), np.arange(6) % 2)
