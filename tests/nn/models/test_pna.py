"""PNA as a whole: its degrees come from the training set."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.helpers.samples import graph_set

from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets import Split, load
from graphtrial.nn import Shapes, build_model
from graphtrial.trials.shapes import shapes_for


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


def test_too_narrow_last_layer_raises() -> None:
    with pytest.raises(GraphTrialError, match="narrowing of model 'pna' must be below width / towers = 4"):
        build_model("pna", Shapes(1, "graph", node_types=28), {"width": 16, "narrowing": 4})
