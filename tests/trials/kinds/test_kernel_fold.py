"""Trials of kernels: kernel version in the identity, invalid Gram matrices raise."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.signatures import declared_arguments
from graphtrial.core.spec import Component
from graphtrial.datasets import load
from graphtrial.execution import run_trials
from graphtrial.kernels import KERNELS
from graphtrial.studies import ModelEntry, Study
from graphtrial.studies.plan import plan
from graphtrial.svm.rules import KernelFoldRules
from graphtrial.trials import Store
from graphtrial.trials.kinds.gram_cache import check_matrix
from graphtrial.trials.kinds.kernel_fold import KernelFold
from graphtrial.trials.trial import run_trial

PLUGIN = """
import numpy as np
from graphtrial.kernels.base import KERNELS, GraphKernel

@KERNELS.register("half-broken")
class HalfBroken(GraphKernel):
    \"\"\"Divides by the number of edges less one.\"\"\"

    def __init__(self, node_labels=True, normalise=True, output="gram"):
        self.node_labels, self.normalise, self.output = node_labels, normalise, output

    def fit_transform(self, X, y=None):
        return np.full((len(X), len(X)), np.nan)
"""


def study_of(kernel: str) -> Study:
    rows = (ModelEntry(kernel, {"h": 1} if "wl" in kernel else {}),)
    return Study("s", "csl", rows, "tudataset/kernel-svm", seeds=1, splits=1)


def test_new_kernel_version_does_not_reuse_old_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = study_of("wl")
    (old,), before = study.trials(), [row.key for row in plan(study)]
    monkeypatch.setattr(KERNELS.get("wl"), "version", 2)
    (new,), after = study.trials(), [row.key for row in plan(study)]
    assert (old.model_version, new.model_version) == (1, 2)
    assert old.id != new.id
    assert before != after
    with pytest.raises(GraphTrialError, match="version 1 of kernel 'wl'; this is version 2"):
        run_trial(old, tmp_path / "state")


def test_kernel_with_nan_fails_its_trial(tmp_path: Path) -> None:
    from graphtrial.core.plugins.loader import load_plugin, unload_plugin

    file = tmp_path / "broken_kernel.py"
    file.write_text(PLUGIN)
    plugin = load_plugin(file)
    try:
        store = Store(tmp_path / "store.sqlite")
        run_trials(study_of("half-broken").trials(), store, workers=0)
        (record,) = store.trials()
    finally:
        unload_plugin(plugin)
    assert record.status == "failed"
    assert record.error == "kernel 'half-broken' gives numbers that are not finite for 150 graphs, first 0"


@pytest.mark.parametrize(
    ("gram", "reason"),
    [
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), "not finite for 2 graphs, first 0"),
        (np.array([[1.0, 0.0], [0.0, np.inf]]), "not finite for 1 graphs, first 1"),
        (np.array([[1.0, 0.5], [0.4, 1.0]]), "not symmetric"),
        (np.ones((2, 3)), r"\[2, 3\], not of numbers \[2, 2\]"),
        (np.ones((2, 2), complex), "complex128"),
        (np.array([["a", "b"], ["c", "d"]]), "not of numbers"),
        (sparse.csr_matrix(np.ones((3, 5))), r"\[3, 5\], not of numbers \[2, features\]"),
        (sparse.csr_matrix([[1.0, np.nan], [0.0, 1.0]]), "not finite for 1 graphs, first 0"),
    ],
)
def test_invalid_gram_matrix_raises(gram: object, reason: str) -> None:
    with pytest.raises(GraphTrialError, match=reason):
        check_matrix(gram, 2, "mine")


WRONG = [
    *[{"h": h} for h in (2.5, -1, True, "two")],
    *[{"steps": 1.5}, {"first_label": 0.5}, {"decay": float("nan")}, {"width": 0.0}, {"repetitions": 0}],
    *[{"node_labels": "yes"}, {"normalise": 2}, {"output": "matrix"}],
]


@pytest.mark.parametrize("name", KERNELS.names())
def test_invalid_kernel_arguments_raise_on_every_path(name: str) -> None:
    kind, graphs = KERNELS.get(name), load("csl").graphs[:4]
    tried = [wrong for wrong in WRONG if wrong.keys() <= declared_arguments(kind).keys()]
    assert tried
    for wrong in tried:
        with pytest.raises(GraphTrialError, match=next(iter(wrong))):
            kind(**wrong).fit_transform(graphs)
        if "output" not in wrong:
            with pytest.raises(GraphTrialError, match=next(iter(wrong))):
                KernelFold(KernelFoldRules()).resolve(Component(name, wrong))


@pytest.mark.parametrize(
    "wrong",
    [
        {"penalties": [0.0]},
        {"penalties": [1.0, -1.0]},
        {"penalties": [float("nan")]},
        {"h": [2.5]},
        {"h": [-1]},
        {"folds": 2.5},
        {"validation": float("inf")},
    ],
)
def test_invalid_svm_rules_raise(wrong: dict[str, object]) -> None:
    with pytest.raises(GraphTrialError, match=next(iter(wrong))):
        KernelFoldRules.from_dict(wrong)


def test_valid_gram_matrix_passes() -> None:
    features = sparse.csr_matrix([[1.0, 2.0, 0.0], [0.0, 1.0, 1.0]])
    assert check_matrix(features, 2, "mine") is features
    assert check_matrix([[2, 1], [1, 2]], 2, "mine").tolist() == [[2, 1], [1, 2]]
