"""Importance of parameters: the one that decides the score has most of it."""

from __future__ import annotations

import numpy as np
import pytest

from graphtrial.core.errors import GraphTrialError
from graphtrial.tuning.importance import importances
from graphtrial.tuning.space import Space
from graphtrial.tuning.space_files import read_space

SPACE = read_space(
    {
        "settings": {"layers": {"low": 2, "high": 8}, "residual": [True, False]},
        "rules": {
            "optimizer.lr": {"low": 1e-4, "high": 1e-1, "log": True},
            "optimizer.weight_decay": {"values": [0.0, 1e-3], "when": {"residual": True}},
        },
    },
    "s",
)
POINTS = [SPACE.sample(np.random.default_rng(number)) for number in range(40)]


def test_the_parameter_that_decides_has_almost_all() -> None:
    importance = importances(SPACE, POINTS, [float(point["layers"]) for point in POINTS])
    assert next(iter(importance)) == "layers"
    assert importance["layers"] > 0.9
    assert "optimizer.weight_decay" not in importance  # active in some configurations alone
    assert importance == importances(SPACE, POINTS, [float(point["layers"]) for point in POINTS])


@pytest.mark.parametrize("scores", [[1.0] * 20, [float(number) for number in range(7)]])
def test_equal_or_few_scores_have_none(scores: list[float]) -> None:
    assert importances(SPACE, POINTS[: len(scores)], scores) == {}


def test_a_stored_space_is_read_back() -> None:
    again = Space.from_dict("s", SPACE.to_dict())
    assert again == SPACE
    assert again.id == SPACE.id


@pytest.mark.parametrize(
    "values", [[], {"a": 1}, {"a": {"kind": "Other"}}, {"a": {"kind": "Choice", "part": "settings", "colour": 1}}]
)
def test_a_stored_space_of_another_shape_is_one_line(values: object) -> None:
    with pytest.raises(GraphTrialError) as error:
        Space.from_dict("s", values)  # type: ignore[arg-type]
    assert "\n" not in str(error.value)
