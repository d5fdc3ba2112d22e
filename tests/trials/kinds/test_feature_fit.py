"""A support vector machine on features as a trial."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.svm import SVC

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.spec import Component
from graphtrial.datasets import load
from graphtrial.execution import run_trials
from graphtrial.studies import ModelEntry, Study
from graphtrial.svm.rules import FeatureFitRules
from graphtrial.training.outcome import EXTRA_METRICS
from graphtrial.trials import Store, TrialSpec
from graphtrial.trials.kinds import rules_from
from graphtrial.trials.kinds.feature_fit import fit_features


@pytest.fixture
def study() -> Study:
    return Study("t", "wikics-standin-stopping", (ModelEntry("svm"),), protocol="wikics/svm", splits=2)


@pytest.mark.slow
def test_accuracy_matches_scikit_learn_per_split(study: Study, tmp_path: Path) -> None:
    trials = study.trials()
    assert len(trials) == 2
    assert len(Study("t", "wikics-standin-stopping", (ModelEntry("svm"),), protocol="wikics/svm").trials()) == 20
    assert TrialSpec.from_dict(trials[0].to_dict()) == trials[0]
    store = Store(tmp_path / "store.sqlite")
    run_trials(trials[:1], store, workers=0)
    (record,) = store.trials()
    assert record.status == "done", record.error
    data = load("wikics-standin-stopping")
    x, y = (np.asarray(data.graphs.column(name).values) for name in ("x", "y"))
    split = data.splits[0]
    machine = SVC(C=8).fit(x[split.train], y[split.train])
    assert record.scores["test"] == pytest.approx(100 * machine.score(x[split.test], y[split.test]), abs=0.05)
    assert record.details["support_vectors"] == pytest.approx(machine.n_support_.sum(), abs=3)


@pytest.mark.slow
def test_pairs_are_ranked_by_the_decision_function(mirror: Path) -> None:
    data = load("cora+links-300")
    outcome = fit_features(data, FeatureFitRules(penalty=10.0, examples=400), split=0, seed=0)
    again = fit_features(data, FeatureFitRules(penalty=10.0, examples=400), split=0, seed=0)
    assert outcome.scores == again.scores
    pairs, linked = (np.asarray(data.graphs.column(name).values) for name in ("pairs", "y"))
    x = np.asarray(data.graphs.column("x").values)
    drawn = np.flatnonzero(np.asarray(data.graphs.column("part").values) == 3)
    rows = np.concatenate([data.splits[0].train, drawn])
    machine = SVC(C=10).fit(x[pairs[rows]].reshape(len(rows), -1), linked[rows])
    tested = data.splits[0].test
    distance = machine.decision_function(x[pairs[tested]].reshape(len(tested), -1))
    # Ours saw 400 of the 1,200 examples, theirs all: near, and above chance.
    assert outcome.scores["test"] == pytest.approx(roc_auc_score(linked[tested], distance), abs=0.1)
    assert outcome.details[EXTRA_METRICS]["AP"] == pytest.approx(
        average_precision_score(linked[tested], distance), abs=0.1
    )
    assert outcome.scores["test"] > 0.55


def test_svm_has_no_settings_and_requires_numerical_features(study: Study) -> None:
    with pytest.raises(GraphTrialError, match="its penalty is a rule"):
        Study("t", "wikics-standin-stopping", (ModelEntry("svm", {"penalty": 2}),), protocol="wikics/svm").trials()
    with pytest.raises(GraphTrialError, match="numeric features"):
        Study("t", "csl", (ModelEntry("svm"),), protocol="wikics/svm").trials()
    with pytest.raises(GraphTrialError, match=r"penalty of .* must be a finite number above 0"):
        rules_from({"kind": "feature-svm", "penalty": 0.0})
    assert study.needs_sklearn
    assert study.trials()[0].model == Component("svm", {})
