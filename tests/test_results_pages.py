"""The pages of results in docs/ match the shipped store."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphtrial.results import result_rows
from graphtrial.shipped import shipped_store

FOLDER = Path(__file__).parents[1] / "docs" / "results"


def test_tudataset_table_1_matches_the_shipped_store() -> None:
    result = json.loads((FOLDER / "tudataset-table-1.json").read_text())
    names = {dataset: name for name, dataset in result["data"].items()}
    stored = {
        (names[row.first.spec.data], row.first.spec.model.name): row
        for row in result_rows([trial for trial in shipped_store().trials() if trial.spec.data in names])
        if row.first.spec.protocol == result["protocol"]
    }
    page = (FOLDER / "tudataset-table-1.md").read_text()
    assert len(result["rows"]) == 24
    for entry in result["rows"]:
        row = stored[entry["dataset"], entry["kernel"]]
        runs, repetitions = row.scores("test"), row.over_seeds("test")
        assert (runs.n, repetitions.n) == (entry["runs"], entry["repetitions"])
        assert (runs.mean, runs.std) == pytest.approx((entry["mean"], entry["sd_runs"]), abs=0.0051)
        assert repetitions.std == pytest.approx(entry["sd_repetitions"], abs=0.0051)
        assert row.published is not None
        assert row.published.test.mean == entry["published"]["mean"]
        assert f"| {entry['dataset']} | {entry['label']} | `{entry['kernel']}` | {entry['repetitions']} | " in page
