"""Merging stores of several machines."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from tests.helpers.cli import CliRunner
from tests.helpers.forked import run_forked
from tests.helpers.sites import plan, record, sample_store
from tests.helpers.stores import change

from graphtrial.cli.main import app
from graphtrial.core.errors import GraphTrialError
from graphtrial.training.outcome import Outcome
from graphtrial.trials import Store
from graphtrial.trials.store.merge import merge


@pytest.mark.slow
def test_merge_copies_finished_trials_with_epochs_and_weights(tmp_path: Path) -> None:
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


@pytest.mark.slow
def test_merge_is_idempotent(tmp_path: Path) -> None:
    source, target = sample_store(tmp_path / "a" / "s.sqlite"), Store(tmp_path / "b" / "s.sqlite")
    first = merge(target, source.path)
    before = target.trials()
    again = merge(target, source.path)
    assert (again.copied, set(again.same), again.different) == ((), set(first.copied), ())
    assert target.trials() == before


def test_merge_keeps_existing_results_and_reports_differences(tmp_path: Path) -> None:
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


def test_merge_refuses_invalid_stores(tmp_path: Path) -> None:
    store = Store(tmp_path / "s.sqlite")
    with pytest.raises(GraphTrialError, match="there is no store"):
        merge(store, tmp_path / "none.sqlite")
    with pytest.raises(GraphTrialError, match="into itself"):
        merge(store, tmp_path / "s.sqlite")
    (tmp_path / "text.sqlite").write_text("no store" * 100)
    with pytest.raises(GraphTrialError, match="cannot be used"):
        merge(store, tmp_path / "text.sqlite")


def test_command_merges_several(tmp_path: Path) -> None:
    trials = plan()
    for name, part in (("a", trials[:3]), ("b", trials[2:5])):
        for spec in part:
            record(Store(tmp_path / f"{name}.sqlite"), spec, 50.0 + (name == "b"), epochs=1)
    words = ["store", "merge", str(tmp_path / "a.sqlite"), str(tmp_path / "b.sqlite")]
    result = CliRunner().invoke(app, [*words, "--store", str(tmp_path / "all.sqlite")])
    assert result.exit_code == 0, result.output
    assert "3 trials copied" in result.output
    assert "another result" in result.output
    assert len(Store(tmp_path / "all.sqlite").trials()) == 5
    result = CliRunner().invoke(app, [*words, "--store", str(tmp_path / "all.sqlite"), "--json"])
    assert [len(entry["same"]) for entry in json.loads(result.output)] == [3, 2]


DIES = """
import os, signal, sys
from pathlib import Path
from graphtrial.trials import Store
from graphtrial.trials.store import merge
from graphtrial.trials.store import store as module
source, target, moment = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
kill = lambda *args: os.kill(os.getpid(), signal.SIGKILL)
if moment == "after the first weights":
    copies = []
    write = merge.atomic_path
    def atomic_path(file):
        copies.append(file)
        if len(copies) == 2:
            kill()
        return write(file)
    merge.atomic_path = atomic_path
elif moment == "before the commit":
    Store.take = kill
elif moment == "in the transaction":
    module.seal = kill
elif moment == "after the commit":
    merge.Checkpoint = kill
merge.merge(Store(target), source)
"""


@pytest.mark.parametrize(
    "moment", ["after the first weights", "before the commit", "in the transaction", "after the commit"]
)
def test_killed_merge_is_completed_by_the_next(moment: str, tmp_path: Path) -> None:
    source, target = Store(tmp_path / "a" / "s.sqlite"), Store(tmp_path / "b" / "s.sqlite")
    specs = plan()[:3]
    for number, spec in enumerate(specs):
        source.start(spec, "accuracy", True, {})
        source.finish(spec.id, Outcome("done", 1, [], {"test": 1.0}), f"weights {number}".encode())
    assert run_forked(DIES, source.path, target.path, moment) == -signal.SIGKILL
    assert len(target.trials()) == (3 if moment == "after the commit" else 0)
    merge(target, source.path)
    assert target.trials() == source.trials()
    for one in target.trials():
        assert target.weights(one) == source.weights(one)
    assert not [path for path in target.path.parent.rglob("*") if path.name.endswith((".tmp", "-journal"))]


def test_second_merge_copies_missing_weights(tmp_path: Path) -> None:
    source, target = Store(tmp_path / "a" / "s.sqlite"), Store(tmp_path / "b" / "s.sqlite")
    spec = plan()[0]
    source.start(spec, "accuracy", True, {})
    source.finish(spec.id, Outcome("done", 1, [], {"test": 1.0}), b"weights")
    merge(target, source.path)
    for spoil in (lambda file: file.unlink(), lambda file: file.write_bytes(b"weightS")):
        spoil(target.weights_file(spec.id))
        assert merge(target, source.path).weights == (spec.id,)
        assert target.weights(target.find(spec.id)) == b"weights"
    target.weights_file(spec.id).unlink()
    source.weights_file(spec.id).write_bytes(b"weightS")
    merged = merge(target, source.path)
    assert (merged.weights, merged.damaged) == ((), (spec.id,))
    assert not target.weights_file(spec.id).exists()


def test_merge_reports_corrupt_trials_and_copies_the_others(tmp_path: Path) -> None:
    source, target = sample_store(tmp_path / "a" / "s.sqlite"), Store(tmp_path / "b" / "s.sqlite")
    one, other, *_ = (record.id for record in source.trials() if record.is_finished)
    change(
        source.path,
        ("UPDATE trials SET val = val + 8 WHERE id = ?", (one,)),
        ("UPDATE epochs SET val_loss = 0.5 WHERE trial = ? AND epoch = 2", (other,)),
    )
    result = CliRunner().invoke(app, ["store", "merge", str(source.path), "--store", str(target.path)])
    assert result.exit_code == 1
    assert one in result.output
    assert other in result.output
    finished = sum(record is not None and record.is_finished for _, record, _ in source.examine())
    assert len(target.trials()) == finished > 10
    assert not {one, other} & {record.id for record in target.trials()}


def test_merge_does_not_modify_the_source(tmp_path: Path) -> None:
    source, target = sample_store(tmp_path / "a" / "s.sqlite"), Store(tmp_path / "b" / "s.sqlite")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "a").rglob("*")}
    merge(target, source.path)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "a").rglob("*")} == before
