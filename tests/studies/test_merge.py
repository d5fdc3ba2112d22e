"""One store of what several machines found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.report.sites import plan, record, sample_store
from typer.testing import CliRunner

from graphtrial.cli.main import app
from graphtrial.errors import GraphTrialError
from graphtrial.studies import Store
from graphtrial.studies.merge import merge
from graphtrial.training.outcome import Outcome


def test_finished_trials_come_with_epochs_and_weights_and_unfinished_ones_stay(tmp_path: Path) -> None:
    source, target = sample_store(tmp_path / "a" / "s.sqlite"), Store(tmp_path / "b" / "s.sqlite")
    finished = [trial for trial in source.trials() if trial.is_finished]
    spec = finished[0].spec
    source.start(spec, "accuracy", True, {})
    source.finish(spec.id, Outcome("done", 1, [], {"test": 1.0}), b"weights")
    finished = [trial for trial in source.trials() if trial.is_finished]
    merged = merge(target, source.path)
    assert set(merged.copied) == {trial.id for trial in finished}
    assert (merged.same, merged.different, merged.weights, merged.left) == ((), (), (spec.id,), 1)
    assert target.trials() == finished
    assert all(target.history(trial.id) == source.history(trial.id) for trial in finished)
    assert target.weights(target.find(spec.id)) == b"weights"
    assert [file.parent.name for file in target.trials_folder.rglob("weights*")] == [spec.id]


def test_a_second_time_changes_nothing(tmp_path: Path) -> None:
    source, target = sample_store(tmp_path / "a" / "s.sqlite"), Store(tmp_path / "b" / "s.sqlite")
    first = merge(target, source.path)
    before = target.trials()
    again = merge(target, source.path)
    assert (again.copied, set(again.same), again.different) == ((), set(first.copied), ())
    assert target.trials() == before


def test_a_result_that_is_there_stays_and_one_that_differs_is_told(tmp_path: Path) -> None:
    ours, theirs = Store(tmp_path / "a" / "s.sqlite"), Store(tmp_path / "b" / "s.sqlite")
    same, other, running = plan()[:3]
    record(ours, same, 50.0, epochs=3)
    record(theirs, same, 50.0, epochs=3)
    record(ours, other, 60.0, epochs=3)
    record(theirs, other, 61.0, epochs=3)
    ours.start(running, "accuracy", True, {})
    record(theirs, running, 70.0, epochs=2)
    merged = merge(ours, theirs.path)
    assert (merged.copied, merged.same, merged.different) == ((running.id,), (same.id,), (other.id,))
    assert ours.find(other.id).scores["test"] == 60.0
    assert (ours.find(running.id).status, len(ours.history(running.id))) == ("done", 2)


def test_what_is_no_other_store_is_refused(tmp_path: Path) -> None:
    store = Store(tmp_path / "s.sqlite")
    with pytest.raises(GraphTrialError, match="there is no store"):
        merge(store, tmp_path / "none.sqlite")
    with pytest.raises(GraphTrialError, match="into itself"):
        merge(store, tmp_path / "s.sqlite")
    (tmp_path / "text.sqlite").write_text("no store" * 100)
    with pytest.raises(GraphTrialError, match="cannot be used"):
        merge(store, tmp_path / "text.sqlite")


def test_the_command_merges_several(tmp_path: Path) -> None:
    trials = plan()
    for name, part in (("a", trials[:3]), ("b", trials[2:5])):
        for spec in part:
            record(Store(tmp_path / f"{name}.sqlite"), spec, 50.0 + (name == "b"), epochs=1)
    words = ["store", "merge", str(tmp_path / "a.sqlite"), str(tmp_path / "b.sqlite")]
    told = CliRunner().invoke(app, [*words, "--store", str(tmp_path / "all.sqlite")])
    assert told.exit_code == 0, told.output
    assert "3 trials copied" in told.output
    assert "another result" in told.output
    assert len(Store(tmp_path / "all.sqlite").trials()) == 5
    told = CliRunner().invoke(app, [*words, "--store", str(tmp_path / "all.sqlite"), "--json"])
    assert [len(entry["same"]) for entry in json.loads(told.output)] == [3, 2]
