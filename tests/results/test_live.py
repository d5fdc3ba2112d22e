"""Snapshots of a store."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import pytest
from filelock import FileLock
from rich.console import Console
from tests.helpers.cli import CliRunner

from graphtrial.cli.main import app
from graphtrial.cli.results.watch import render
from graphtrial.core.files import make_folder
from graphtrial.results.live import duration, snapshot
from graphtrial.training.outcome import Epoch
from graphtrial.trials import Store, TrialSpec

Filler = Callable[..., list[TrialSpec]]


def begin(store: Store, spec: TrialSpec, epochs: int) -> FileLock:
    """Let a trial look as if a process were running it, while the lock that is returned is held."""
    store.start(spec, "accuracy", True, {"python": "3"})
    store.add_epochs(spec.id, [Epoch(n, 1e-3, 1.0, 0.5, 70.0 + n, 2.0) for n in range(1, epochs + 1)])
    return FileLock(make_folder(store.trials_folder / spec.id) / "lock")


@pytest.fixture
def specs(fill: Filler) -> list[TrialSpec]:
    """Five trials of a row; the last two are not in the store yet."""
    built = fill("gcn", [50.0, 51.0, 52.0])
    return [*built, *(dataclasses.replace(built[0], seed=seed) for seed in (7, 8))]


def test_progress_is_estimated_from_finished_trials_of_the_row(results: Store, specs: list[TrialSpec]) -> None:
    with begin(results, specs[3], 1):
        seen = snapshot(results)
        assert seen.statuses == {"done": 3, "running": 1}
        (one,) = seen.running
        assert (one.epoch, one.progress, one.seconds_left) == (1, 0.5, 2.0)  # the finished ones took two epochs
    assert snapshot(results).statuses == {"done": 3, "interrupted": 1}


def test_progress_without_finished_trials_follows_the_rules(results: Store, specs: list[TrialSpec]) -> None:
    other = dataclasses.replace(specs[0], rules=specs[0].rules.changed({"optimizer.lr": 0.1}))  # type: ignore[call-arg]
    with begin(results, other, 3):
        (one,) = snapshot(results).running
        assert one.progress == pytest.approx(3 / other.kind.expected_epochs)


def test_failures_show_their_last_line(results: Store, specs: list[TrialSpec]) -> None:
    results.start(specs[4], "accuracy", True, {"python": "3"})
    results.mark(specs[4].id, "failed", "Traceback\n  somewhere\nValueError: [bold]bad[/bold]")
    (failure,) = snapshot(results).failures
    assert failure.reason == "ValueError: [bold]bad[/bold]"
    console = Console(width=200, record=True)
    console.print(render(snapshot(results)))
    assert "[bold]bad[/bold]" in console.export_text()


def test_watch_once_prints_text_and_json(results: Store, specs: list[TrialSpec]) -> None:
    words = ["watch", "--store", str(results.path)]
    with begin(results, specs[3], 1):
        text = CliRunner().invoke(app, [*words, "--once"])
        assert text.exit_code == 0, text.output
        assert "3 done, 1 running" in text.stdout
        assert "seed 7" in text.stdout
        result = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    assert result["running"][0]["epoch"] == 1
    ended: Any = CliRunner().invoke(app, [*words, "--until-done", "--every", "0.2"])
    assert ended.exit_code == 0
    assert "no running trials" in ended.stdout


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 s"), (41.2, "41 s"), (185, "3 min 5 s"), (7800, "2 h 10 min"), (273_600, "3 d 4 h"), (3600, "1 h")],
)
def test_durations_are_formatted(seconds: float, words: str) -> None:
    assert duration(seconds) == words
