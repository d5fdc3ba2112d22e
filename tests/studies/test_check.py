"""Names and settings are checked before a dataset is loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.helpers.cli import CliRunner

from graphtrial.cli.main import app
from graphtrial.core.plugins.permissions import clear
from graphtrial.datasets.custom.library import resolve
from graphtrial.studies import ModelEntry, Study
from graphtrial.studies.check import check_without_data

WRONG = [
    (["gcnn"], "Did you mean 'gcn'"),
    (["gcn", "--protocol", "wikics/node"], "Did you mean 'wikics/nodes'"),
    (["gcn", "--encoding", "laplacain:8"], "Did you mean 'laplacian'"),
    (["gcn", "--set", "droput=0.1"], "Did you mean 'dropout'"),
    (["gcn", "--set", "dropout=2"], "dropout of model 'gcn'"),
    (["gcn", "--budget", "lots"], "not a parameter budget"),
    (["torch_geometric.nn.models:GATT"], "GATT"),
]


@pytest.fixture(autouse=True)
def no_library(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Fail where a library is asked to load data."""

    def load(*arguments: Any) -> None:
        raise AssertionError("the library was asked for the data")

    monkeypatch.setattr(resolve, "load_in_process", load)
    yield
    clear()


@pytest.mark.parametrize("command", [["run"], ["tune", "--budget", "2trials"], ["params"]], ids=lambda words: words[0])
@pytest.mark.parametrize(("words", "message"), WRONG, ids=[message for _, message in WRONG])
def test_mistake_is_found_before_a_library_loads(command: list[str], words: list[str], message: str) -> None:
    if command[0] == "params" and "--protocol" in words:
        pytest.skip("params has no protocol")
    if command[0] == "tune":
        words = ["--params" if word == "--budget" else word for word in words]
    workers = [] if command[0] == "params" else ["--workers", "0"]
    result = CliRunner().invoke(app, [*command, "pyg:Planetoid/Cora", *words, *workers])
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_changed_rule_is_checked_before_a_library_loads() -> None:
    words = ["run", "pyg:Planetoid/Cora", "gcn", "--rule", "optimizer.rl=1", "--workers", "0"]
    assert "Did you mean 'lr'" in CliRunner().invoke(app, words).stderr


def test_every_row_is_checked_on_its_own_datasets() -> None:
    rows = (ModelEntry("gcn", datasets=("csl",)), ModelEntry("wl", protocol="tudataset/kernel-svm", datasets=("zinc",)))
    check_without_data(Study("both", ("csl", "zinc"), rows))
