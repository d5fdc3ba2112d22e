"""`--shipped` of the commands that read a store."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.helpers.cli import CliRunner

from graphtrial.cli.main import app
from graphtrial.shipped import shipped_store


@pytest.mark.parametrize(
    "words",
    [
        ["status", "--json"],
        ["compare", "gat", "monet", "--datasets", "aqsol", "--json"],
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


def test_documented_trial_is_shipped() -> None:
    page = (Path(__file__).parents[3] / "docs" / "report.md").read_text(encoding="utf-8")
    name = next(word for word in re.findall(r"graphtrial reproduce (\S+) --shipped", page) if "-" not in word)
    result = CliRunner().invoke(app, ["show", name, "--shipped", "--json"])
    assert json.loads(result.stdout)["id"] == shipped_store().find(name).id
