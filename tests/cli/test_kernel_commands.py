"""`graphtrial kernel`, and the help of commands about kernels and datasets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.helpers.cli import CliRunner

from graphtrial.cli.main import app

RUNNER = CliRunner()
MADE = ["sbm", "tsp", "cycles", "graph-theory"]
COMMANDS = ["kernel", "data check", "data import", "data delete", *(f"data generate {kind}" for kind in MADE)]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(command: str) -> None:
    result = RUNNER.invoke(app, [*command.split(), "--help"])
    assert result.exit_code == 0
    assert "graphtrial " + command in result.stdout.partition("Example:")[2]


@pytest.mark.slow
def test_kernel_command_prints_json(tmp_path: Path) -> None:
    words = ["kernel", "csl", "wl", "--h", "2", "--repetitions", "2", "--folds", "3", "--workers", "0"]
    store = ["--store", str(tmp_path / "store.sqlite")]
    result = RUNNER.invoke(app, [*words, *store, "--json"])
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    assert (printed["dataset"], printed["model"], printed["settings"]["h"]) == ("csl", "wl", 2)
    assert printed["protocol"] == "tudataset/kernel-svm@1"
    assert (printed["test"]["n"], printed["test_over_seeds"]["n"]) == (6, 2)
    shown = json.loads(RUNNER.invoke(app, ["show", printed["trials"][0], *store, "--json"]).stdout)
    assert shown["status"] == "done"
    assert shown["spec"]["rules"] == {"kind": "kernel-svm"}  # all others are the defaults
    assert shown["rules"]["penalties"][0] == 1000.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["csl", "wll"], "Did you mean 'wl"),
        (["csl", "wl", "--device", "cuda"], "graph kernels are computed on the CPU: leave out --device"),
        (["csl", "wl", "--set", "steps=3"], "has no setting 'steps'"),
        (["csl", "wl-oa", "--linear"], "has no features for a linear machine"),
        (["csl", "wl", "--repetitions", "20001"], "must be an integer from 1 to 10,000"),
        (["csl", "wl", "--rule", "fold=3"], "Did you mean 'folds'"),
    ],
)
def test_kernel_usage_error_is_one_line(words: list[str], message: str, tmp_path: Path) -> None:
    result = RUNNER.invoke(app, ["kernel", *words, "--workers", "0", "--store", str(tmp_path / "store.sqlite")])
    assert result.exit_code == 2
    assert result.stderr.startswith("graphtrial: ")
    assert result.stderr.count("\n") == 1
    assert message in result.stderr
