"""PNA as a whole: its degrees come from the training set."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.helpers.samples import graph_set

from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets import Dataset, Split, load
from graphtrial.encodings import Encoding
from graphtrial.nn import Shapes, build_model
from graphtrial.studies import ModelEntry, Study
from graphtrial.trials.kinds import training
from graphtrial.trials.shapes import shapes_for
from graphtrial.trials.trial import make_job


def test_degree_scalers_use_the_training_set() -> None:
    star = [(leaf, 0) for leaf in range(1, 4)]
    graphs = graph_set([(4, star), (2, [(0, 1)]), (3, [])])
    data = load("csl")
    for train, degrees in (([0], [3, 0, 0, 0]), ([1, 2], [0, 1, 0, 0, 0]), ([2], [0, 0, 0])):
        splits = (Split(np.array(train), np.array([0]), np.array([0])),)
        shapes = shapes_for(replace(data, graphs=graphs, splits=splits), None)
        assert shapes.degree_histogram == tuple(np.bincount(degrees))
        expected = float(np.log1p(degrees).mean())
        assert shapes.mean_log_degree == pytest.approx(expected)
        delta = build_model("pna", shapes, {"width": 16}).layers[0].aggregation.delta
        assert delta == pytest.approx(expected or 1.0)  # nothing to scale without edges


def test_degrees_are_those_of_the_given_fold_alone() -> None:
    graphs = graph_set([(4, [(leaf, 0) for leaf in range(1, 4)]), (2, [(0, 1)]), (3, [])])
    folds = tuple(Split(np.array(train), np.array([0]), np.array([0])) for train in ([0, 1], [1, 2]))
    data = replace(load("csl"), graphs=graphs, splits=folds)
    assert shapes_for(data, None, folds[1].train).degree_histogram == (4, 1)
    assert shapes_for(data, None).degree_histogram == (7, 1, 0, 1)


def test_a_trial_takes_the_degrees_of_its_own_training_part(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[np.ndarray] = []

    def recorded(dataset: Dataset, encoding: Encoding | None, train_ids: np.ndarray) -> Shapes:
        given.append(train_ids)
        return shapes_for(dataset, encoding, train_ids)

    monkeypatch.setattr(training, "shapes_for", recorded)
    specs = Study("s", "csl", (ModelEntry("pna", {"width": 16}),), seeds=1, splits=2).trials()
    for spec in specs:
        make_job(spec)
        np.testing.assert_array_equal(given.pop(), load("csl").splits[spec.split].train)


def test_too_narrow_last_layer_raises() -> None:
    with pytest.raises(GraphTrialError, match="narrowing of model 'pna' must be below width / towers = 4"):
        build_model("pna", Shapes(1, "graph", node_types=28), {"width": 16, "narrowing": 4})
