"""Points of a space: ranges, log ranges, choices, conditions, grids."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from graphtrial.core.errors import GraphTrialError
from graphtrial.tuning.space import Point, Space, fixed
from graphtrial.tuning.space_files import read_space

VALUES: dict[str, Any] = {
    "settings": {
        "layers": {"low": 2, "high": 16, "log": True},
        "width": {"low": 16, "high": 64, "step": 16},
        "dropout": {"low": 0.0, "high": 0.5, "points": 3},
        "residual": [True, False],
        "heads": {"values": [2, 4], "when": {"residual": True}},
    },
    "rules": {
        "optimizer": {"lr": {"low": 1e-4, "high": 1e-2, "log": True, "points": 3}},
        "schedule.patience": {"low": 3, "high": 5, "when": {"optimizer": {"lr": [1e-4, 1e-2]}}},
    },
    "encoding": ["none", "laplacian:4"],
}


def space(**changes: Any) -> Space:
    return read_space({**VALUES, **changes}, "test")


def points(count: int, of: Space) -> list[Point]:
    return [of.sample(np.random.default_rng([7, number])) for number in range(count)]


def test_sampled_values_are_within_their_ranges_and_reach_both_halves() -> None:
    drawn = points(400, space())
    for name, middle in (("layers", 5.6), ("width", 40), ("dropout", 0.25), ("optimizer.lr", 1e-3)):
        values = [point[name] for point in drawn]
        assert all(value in space()[name] for value in values)
        assert 120 < sum(value < middle for value in values) < 280, name  # the median of a log range is geometric
    assert {point["width"] for point in drawn} == {16, 32, 48, 64}
    assert {type(point["layers"]) for point in drawn} == {int}
    assert all(float(f"{point['optimizer.lr']:.4g}") == point["optimizer.lr"] for point in drawn)


def test_an_inactive_parameter_has_no_value_and_shifts_no_other_one() -> None:
    drawn = points(100, space())
    assert all(("heads" in point) == point["residual"] for point in drawn)
    unconditional = read_space({**VALUES, "settings": {**VALUES["settings"], "heads": [2, 4]}}, "test")
    for one, other in zip(drawn, points(100, unconditional), strict=True):
        assert {**other, **one} == other


def test_a_grid_has_every_combination_once() -> None:
    of = read_space({"settings": VALUES["settings"], "encoding": VALUES["encoding"]}, "test")
    grid = of.grid()
    # 4 depths x 4 widths x 3 dropouts x (2 heads with residual, or none without) x 2 encodings
    assert len(grid) == 4 * 4 * 3 * (2 + 1) * 2
    assert len({tuple(sorted(point.items())) for point in grid}) == len(grid)
    assert {point["layers"] for point in grid} == {2, 4, 8, 16}
    assert {point["dropout"] for point in grid} == {0.0, 0.25, 0.5}


def test_given_values_leave_the_space_and_decide_conditions() -> None:
    left = fixed(space(), {"residual": False, "optimizer.lr": 1e-4})
    assert left is not None
    assert {parameter.name for parameter in left} == {"layers", "width", "dropout", "schedule.patience", "encoding"}
    assert not left["schedule.patience"].when
    assert fixed(read_space({"encoding": ["none"]}, "test"), {"encoding": "none"}) is None


def test_the_id_of_a_space_is_that_of_its_parameters() -> None:
    assert space().id == read_space(VALUES, "another name").id
    assert space().id != space(encoding=["none"]).id


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({}, "the space test is empty"),
        ({"setings": {}}, "has no setting 'setings'. Did you mean 'settings'"),
        ({"settings": {"layers": []}}, "'layers' of the space has no values"),
        ({"settings": {"layers": [2, 2]}}, "a value twice"),
        ({"settings": {"layers": {"low": 4, "high": 2}}}, "from 4 to 2: the low end must be below"),
        ({"settings": {"layers": {"low": 2}}}, "needs low and high"),
        ({"settings": {"layers": {"low": 0, "high": 2, "log": True}}}, "the low end must be above 0"),
        ({"settings": {"layers": {"low": 2, "high": 8, "step": 4}}}, "not in whole steps of 4"),
        ({"settings": {"layers": {"low": 2, "high": 8, "stpe": 2}}}, "Did you mean 'step'"),
        ({"settings": {"dropout": {"low": 0.0, "high": 0.5, "step": 1}}}, "which has no step"),
        ({"settings": {"dropout": {"low": 0.0, "high": "a"}}}, "high of 'dropout'"),
        ({"settings": {"dropout": {"low": 0.0, "high": float("inf")}}}, "high of 'dropout'"),
        ({"settings": {"heads": {"values": [1], "when": {"depth": 1}}}}, "has no parameter 'depth'"),
        ({"settings": {"residual": [True], "heads": {"values": [1], "when": {"residual": False}}}}, "never is"),
        ({"settings": {"a": {"values": [1], "when": {"b": 1}}, "b": {"values": [1], "when": {"a": 1}}}}, "on itself"),
        ({"settings": {"encoding": [1]}, "encoding": ["none"]}, "has 'encoding' twice"),
        ({"settings": 3}, r"\[settings\] of the space test must be"),
        ({"settings": {"layers": {"values": 3}}}, "needs a list of values"),
        ({"settings": {"layers": [[1]]}}, "a value of 'layers'"),
    ],
)
def test_an_invalid_space_is_one_clear_line(values: dict[str, Any], reason: str) -> None:
    with pytest.raises(GraphTrialError, match=reason) as error:
        read_space(values, "test")
    assert "\n" not in str(error.value)


def test_a_grid_of_a_continuous_range_needs_its_points() -> None:
    of = read_space({"rules": {"optimizer.lr": {"low": 1e-4, "high": 1e-2}}}, "test")
    with pytest.raises(GraphTrialError, match=r"needs the number of points of 'optimizer.lr'"):
        of.grid()
    many = {f"s{number}": {"low": 1, "high": 100} for number in range(3)}
    with pytest.raises(GraphTrialError, match="more than 10,000 combinations"):
        read_space({"settings": many}, "test").grid()
