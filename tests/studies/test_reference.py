"""Estimates from shipped timings, scaled by a calibration of the machine."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.helpers.cli import CliRunner

from graphtrial.cli.hours import format_hours
from graphtrial.cli.main import app
from graphtrial.core.files import cache_home
from graphtrial.core.hardware.speed import read_factor, write_factor
from graphtrial.shipped import shipped_store
from graphtrial.shipped.timings import shipped_timings, timings_of
from graphtrial.studies import load_study
from graphtrial.studies.calibration import calibrate
from graphtrial.studies.estimate import time_left
from graphtrial.studies.plan import PlannedRow, plan
from graphtrial.studies.reference import reference


def row_of(study: str, model: str) -> PlannedRow:
    return next(row for row in plan(load_study(study)) if row.model.name == model and row.encoding is None)


@pytest.mark.slow
def test_timings_are_those_of_the_shipped_store() -> None:
    assert timings_of(shipped_store().trials()) == list(shipped_timings())


def test_measured_row_has_the_lengths_of_its_trials() -> None:
    row = row_of("bgnn-v5/table-10", "gcn")
    (timing,) = [
        one
        for one in shipped_timings()
        if (one.dataset, one.model, one.encoding, one.arguments) == ("csl", "gcn", "none", row.model.arguments)
    ]
    actual = reference(row)
    assert actual is not None
    assert actual.measured
    assert (actual.seconds.low, actual.seconds.expected, actual.seconds.high) == (
        timing.shortest,
        timing.seconds,
        timing.longest,
    )
    left = time_left(row, [], None, 2.0)
    assert left is not None
    assert left.seconds.expected == pytest.approx(2 * row.trials * timing.seconds)
    assert not left.is_guess


def test_unmeasured_rows_are_ranges_around_the_nearest_model() -> None:
    row = row_of("bgnn-v5/table-10", "gcn")
    wide = replace(row, model=replace(row.model, arguments={**row.model.arguments, "width": 292}))
    measured, guess = reference(row), reference(wide)
    assert measured is not None
    assert guess is not None
    assert not guess.measured
    assert guess.seconds.low < guess.seconds.expected < guess.seconds.high
    assert guess.seconds.high > measured.seconds.high
    assert reference(row_of("bgnn-v5/table-9", "gcn")) is not None  # TSP, by the size of the data
    left = time_left(wide, [], None, None)
    assert left is not None
    assert left.is_guess


@pytest.mark.parametrize(
    ("hours", "guessed", "timed", "text"),
    [
        ((None, None, None), 0, 0, "unknown"),
        ((1.0, 0.95, 1.1), 0, 2, "1.0"),
        ((1.0, 0.2, 4.0), 1, 2, "~0.2-4.0"),
        ((1.0, 0.2, 1400.0), 0, 1, "0.2-1,400+"),
        ((0.01, 0.01, 0.02), 0, 2, "<0.1"),
    ],
)
def test_hours_are_formatted(hours: tuple[float | None, ...], guessed: int, timed: int, text: str) -> None:
    values = dict(zip(("hours", "hours_low", "hours_high"), hours, strict=True))
    assert format_hours({**values, "rows": 2, "timed_rows": timed, "guessed_rows": guessed}) == text


def test_factor_is_verified_when_read(own_home: Path) -> None:
    assert read_factor() is None
    write_factor(1.5)
    assert read_factor() == 1.5
    file = cache_home() / "calibration.json"
    content = file.read_text()
    file.write_text(content.replace("1.5", "2.5"))
    assert read_factor() is None
    values = json.loads(content)
    file.write_text(json.dumps({**values, "machine": {**values["machine"], "cpu": "another"}}))
    assert read_factor() is None
    file.write_text("{")
    assert read_factor() is None


@pytest.mark.slow
def test_calibration_measures_and_caches(own_home: Path) -> None:
    factor = calibrate(seconds=0.0)
    assert 0.01 < factor < 100
    assert read_factor() == factor


def test_list_studies_scales_by_the_factor(own_home: Path, tmp_path: Path) -> None:
    words = ["list", "studies", "--json", "--store", str(tmp_path / "none.sqlite")]
    plain = {entry["name"]: entry for entry in json.loads(CliRunner().invoke(app, words).stdout)}
    write_factor(3.0)
    slower = {entry["name"]: entry for entry in json.loads(CliRunner().invoke(app, words).stdout)}
    demo = plain["demo"]
    assert 0 < demo["hours_low"] <= demo["hours"] <= demo["hours_high"]
    assert slower["demo"]["hours"] == pytest.approx(3 * demo["hours"])
    assert plain["bgnn-v5/table-9"]["guessed_rows"] > 0
    text = CliRunner().invoke(app, words[:2] + words[3:]).stdout
    assert "times 3 on this machine" in text
