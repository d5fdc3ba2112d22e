"""`--shipped` of the commands that read a store."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.helpers.cli import CliRunner

from graphtrial.cli.main import app
from graphtrial.shipped import shipped_store


@pytest.mark.parametrize(
    "words",
    [
        ["status", "--json"],
        ["compare", "gcn", "gat", "--datasets", "aqsol", "--json"],
        ["ranks", "--datasets", "zinc,aqsol", "--json"],
        ["export", "csl", "--format", "json"],
        ["report", "--json"],
    ],
    ids=lambda words: words[0],
)
def test_shipped_results_need_no_store(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, [*words, "--shipped"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)
    assert CliRunner().invoke(app, words).exit_code == 2  # no store in the working directory
    assert not list(tmp_path.iterdir())


def test_trial_in_readme_is_shipped() -> None:
    readme = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")
    name = readme.partition("graphtrial reproduce ")[2].split()[0]
    result = CliRunner().invoke(app, ["show", name, "--shipped", "--json"])
    assert json.loads(result.stdout)["id"] == shipped_store().find(name).id
