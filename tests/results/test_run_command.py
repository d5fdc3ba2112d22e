"""The command on the page of a row gives exactly the trials of the row."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from tests.helpers.cli import CliRunner
from tests.helpers.sites import record

from graphtrial.cli.main import app
from graphtrial.results import result_rows
from graphtrial.results.commands import run_command
from graphtrial.studies import ModelEntry, Study
from graphtrial.trials import Store


@pytest.mark.slow
@pytest.mark.parametrize(
    "row",
    [
        ModelEntry("gcn", {"width": 6, "layers": 2}),
        ModelEntry("gatedgcn", {"width": 6, "residual": False}, ("laplacian:5,sign=absolute",)),
        ModelEntry("gat", {"width": 4, "heads": 2, "layers": 3}, ("random-walk:4",)),
        ModelEntry("ringgnn", {"width": 4, "layers": 1}, ("laplacian:5,sign=random+random-walk:3",)),
    ],
    ids=lambda row: row.model,
)
def test_command_runs_the_same_trials(row: ModelEntry, tmp_path: Path) -> None:
    study = Study("s", "csl", (row,), seeds=1, splits=2, rules={"stopping.max_epochs": 1, "optimizer.lr": 0.01})
    built = Store(tmp_path / "one.sqlite")
    for spec in study.trials():
        record(built, spec, 50.0, epochs=1)
    command = run_command(result_rows(built.trials())[0])
    assert command is not None
    again = str(tmp_path / "two.sqlite")
    words = [*shlex.split(command)[1:], "--store", again, "--workers", "0", "--json"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert set(json.loads(result.stdout)["trials"]) == {spec.id for spec in study.trials()}


def test_command_is_none_if_none_runs_the_same_trials(tmp_path: Path) -> None:
    store = Store(tmp_path / "store.sqlite")
    for spec in Study("s", "csl", (ModelEntry("gcn", {"width": 6}),), seeds=(12345,), splits=1).trials():
        record(store, spec, 50.0, epochs=1)
    assert run_command(result_rows(store.trials())[0]) is None
