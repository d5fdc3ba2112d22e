"""Badges of rows that are not the published experiment."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from collections.abc import Callable
from typing import Any

import pytest

from graphtrial.core.spec import Component
from graphtrial.datasets import DATASETS
from graphtrial.nn import model_settings
from graphtrial.results.departures import badges, departures_of
from graphtrial.results.export import export
from graphtrial.results.grouping import result_rows
from graphtrial.results.rows import ResultRow
from graphtrial.results.select import best_first
from graphtrial.training import PROTOCOLS
from graphtrial.trials import Store
from graphtrial.trials.store import TrialRecord

Filler = Callable[..., Any]
ZINC_FROM_SMILES = next(source for source in DATASETS.get("zinc").sources if source.name == "smiles").hashes[0]


@pytest.fixture
def trial(results: Store, fill: Filler) -> Callable[..., TrialRecord]:
    """A function that returns a trial on a dataset with this data hash and recorded source."""
    fill("gcn", [0.4])
    (record,) = results.trials()

    def trial(dataset: str, data: str = "0" * 64, source: str | None = None) -> TrialRecord:
        spec = dataclasses.replace(record.spec, dataset=dataset, data=data)
        return dataclasses.replace(record, spec=spec, environment={"source": source} if source else {})

    return trial


@pytest.mark.parametrize(
    ("dataset", "data", "source", "badge", "comparable"),
    [
        ("csl", "0" * 64, None, "", True),
        ("zinc", "0" * 64, "molecules.zip", "", True),
        ("zinc", "0" * 64, "smiles", "[other data]", True),
        ("zinc", ZINC_FROM_SMILES, None, "[other data]", True),
        ("zinc", "0" * 64, None, "[other data]", True),
        ("pattern", "0" * 64, None, "[other data]", True),
        ("cycles-200", "0" * 64, None, "[other data]", False),
        ("graphtheoryprop", "0" * 64, None, "[other data]", False),
        ("graphtheoryprop-as-published", "0" * 64, None, "", True),
        ("wikics-standin+links-10000", "0" * 64, None, "[other data]", False),
        ("aqsol", "0" * 64, None, "", True),
        ("nobody-knows-this", "0" * 64, None, "", True),
        ("os.path:join", "0" * 64, None, "", True),
    ],
)
def test_data_that_are_not_the_published_ones_have_a_badge(
    trial: Callable[..., TrialRecord], dataset: str, data: str, source: str | None, badge: str, comparable: bool
) -> None:
    row = ResultRow((trial(dataset, data, source),), None)
    assert badges(row) == badge
    assert all(departure.comparable == comparable and departure.reason for departure in row.departures)


def test_changed_rules_have_a_badge_too(trial: Callable[..., TrialRecord]) -> None:
    record = trial("pattern")
    spec = dataclasses.replace(record.spec, rules=record.spec.rules.changed({"stopping.max_epochs": 3}))
    actual = departures_of([dataclasses.replace(record, spec=spec)])
    assert [departure.badge for departure in actual] == ["other data", "changed rules"]
    assert actual[1].reason == "stopping.max_epochs = 3"


@pytest.mark.parametrize("format", ["markdown", "latex", "csv", "json"])
def test_every_export_shows_the_badge(results: Store, fill: Filler, format: str) -> None:
    fill("gcn", [70.0, 71.0], dataset="cycles-200", protocol="bgnn-v5/cycles@1")
    text = export(result_rows(results.trials()), format)
    assert "other data" in text
    if format == "csv":
        (line,) = csv.DictReader(io.StringIO(text))
        assert line["departures"] == "other data; changed rules"
        assert "another generator" in line["departures_reason"]
    if format == "json":
        (row,) = json.loads(text)
        assert row["departures"][0]["badge"] == "other data"


def test_rows_on_the_published_data_come_before_others_of_the_dataset(trial: Callable[..., TrialRecord]) -> None:
    built = [
        ResultRow((trial("zinc", data, source),), None)
        for data, source in (("0" * 64, "smiles"), ("f" * 64, "molecules.zip"))
    ]
    assert [bool(row.departures) for row in best_first(built)] == [False, True]


def test_old_model_version_has_a_badge(results: Store, fill: Filler) -> None:
    fill("gcn", [0.4])
    (record,) = results.trials()

    def actual(**changes: Any) -> tuple[str, ...]:
        spec = dataclasses.replace(record.spec, **changes)
        return tuple(one.reason for one in departures_of([dataclasses.replace(record, spec=spec)]))

    assert actual() == ()
    mended = Component("ringgnn", {**model_settings("ringgnn"), "width": 8})
    rules = PROTOCOLS.get("bgnn-v5/csl").rules_for("ringgnn")
    assert actual(model=mended, rules=rules, model_version=2) == ()
    assert actual(model=mended, rules=rules, model_version=1) == ("version 1 of model 'ringgnn'; this is version 2",)
    encoding = Component("laplacian", {"k": 4, "sign": "random"})
    assert actual(encoding=encoding, encoding_version=1) == (
        "version 1 of encoding 'laplacian:k=4,sign=random'; this is version 2",
    )
    for name in ("nobody-knows-this", "os.path:join"):  # neither known nor imported
        assert actual(model=Component(name, {})) == ()
