from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.helpers.cli import CliRunner
from tests.helpers.searched import declared, record_search
from tests.helpers.stores import change

from graphtrial.cli.main import app
from graphtrial.core.spec import Component
from graphtrial.core.temporary import staging_folder
from graphtrial.datasets import load
from graphtrial.doctor import Finding, examine
from graphtrial.doctor.machine import check_packages
from graphtrial.encodings import encode
from graphtrial.execution import run_trials
from graphtrial.studies import ModelEntry, Study
from graphtrial.trials import Store
from graphtrial.trials.shapes import make_encoding

STUDY = """
title = "t"
dataset = "csl"
seeds = 1
splits = 2
rules = {stopping.max_epochs = 1}
[[models]]
name = "gcn"
width = 8
layers = 2
"""


def finding(actual: list[Finding], area: str, check: str) -> Finding:
    (expected,) = [f for f in actual if (f.area, f.check) == (area, check)]
    return expected


def wrong(actual: list[Finding]) -> list[str]:
    return [f"{f.area}: {f.check}" for f in actual if f.state == "wrong"]


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A store with one finished trial."""
    path = tmp_path / "with späces" / "store.sqlite"
    study = Study(
        "s", "csl", (ModelEntry("gcn", {"width": 8, "layers": 2}),), seeds=1, splits=1, rules={"stopping.max_epochs": 1}
    )
    run_trials(study.trials(), Store(path), workers=0)
    return path


@pytest.mark.slow
def test_doctor_passes_on_an_intact_machine(results: Path) -> None:
    actual = examine(results)
    assert wrong(actual) == []
    assert "1 done" in finding(actual, "store", "trials").result
    assert "all checksums match" in finding(actual, "cache", "datasets").result
    assert finding(actual, "machine", "kernels").state == "ok"
    assert finding(actual, "packages", "torch").state == "ok"


def test_missing_store_and_cache_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHTRIAL_HOME", str(tmp_path / "none yet" / "cache"))
    actual = examine(tmp_path / "nowhere" / "store.sqlite")
    assert wrong(actual) == []
    assert "no trials so far" in finding(actual, "store", "file").result
    assert not (tmp_path / "nowhere").exists()  # looking leaves no traces
    assert not (tmp_path / "none yet").exists()


def test_flipped_byte_in_cache_is_detected(own_home: Path, tmp_path: Path) -> None:
    dataset = load("csl")
    encode(dataset.graphs, make_encoding(Component("laplacian", {"k": 4})), "encoding")  # type: ignore[arg-type]
    for room in ("datasets", "encodings"):
        file = max((own_home / room).rglob("*.npy"), key=lambda path: path.stat().st_size)
        content = bytearray(file.read_bytes())
        content[-3] ^= 1
        file.write_bytes(content)
    actual = examine(tmp_path / "s.sqlite")
    assert wrong(actual) == ["cache: datasets", "cache: encodings"]
    assert "computed again" in finding(actual, "cache", "datasets").advice


@pytest.mark.slow
def test_changed_raw_file_and_wrong_mirror_are_detected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from graphtrial.datasets import DATASETS

    files = [file for source in DATASETS.get("zinc")().sources for file in source.files]
    file = next(file for file in files if file.sha256 is not None)
    (tmp_path / "mirror" / file.name).parent.mkdir(parents=True)
    (tmp_path / "mirror" / file.name).write_bytes(b"something else")
    monkeypatch.setenv("GRAPHTRIAL_MIRROR", str(tmp_path / "mirror"))
    actual = examine(tmp_path / "s.sqlite")
    assert wrong(actual) == ["mirror: raw files"]
    assert (tmp_path / "mirror" / file.name).exists()  # looked at, not touched
    monkeypatch.setenv("GRAPHTRIAL_MIRROR", str(tmp_path / "absent"))
    assert wrong(examine(tmp_path / "s.sqlite")) == ["mirror: folder"]


@pytest.mark.slow
def test_store_changed_by_another_program_is_detected(results: Path) -> None:
    (trial,) = (record.id for record in Store(results).trials())
    change(
        results,
        "UPDATE trials SET test = test + 8",
        "INSERT INTO epochs VALUES ('stranger', 1, 0.1, 1, 1, 1, 1)",
    )
    actual = examine(results)
    assert wrong(actual) == ["store: file", f"store: trial {trial}"]
    assert "1 epochs belong to no trial" in finding(actual, "store", "file").result
    assert "changed after it was written" in finding(actual, "store", f"trial {trial}").result
    assert "do not trust" in finding(actual, "store", f"trial {trial}").advice


@pytest.mark.slow
@pytest.mark.parametrize("column", ["lr", "train_loss", "val_loss", "val_score", "seconds"])
def test_changed_epoch_is_detected(column: str, results: Path) -> None:
    (trial,) = (record.id for record in Store(results).trials())
    change(results, f"UPDATE epochs SET {column} = {column} + 0.125 WHERE epoch = 1")
    assert wrong(examine(results)) == [f"store: trial {trial}"]


@pytest.mark.slow
def test_lost_trial_is_detected(results: Path) -> None:
    change(results, "DELETE FROM trials", "DELETE FROM epochs")
    assert wrong(examine(results)) == ["store: digests"]


@pytest.mark.slow
def test_changed_and_lost_weights_are_detected(results: Path) -> None:
    (file,) = results.parent.rglob("weights.safetensors")
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    assert wrong(examine(results)) == ["store: weights"]
    file.unlink()
    assert finding(examine(results), "store", "weights").state == "note"


@pytest.mark.slow
def test_corrupt_file_other_file_and_other_schema_are_distinguished(results: Path, tmp_path: Path) -> None:
    content = bytearray(results.read_bytes())
    content[5000:9000] = os.urandom(4000)
    results.write_bytes(content)
    assert "store: file" in wrong(examine(results))
    other = tmp_path / "other.sqlite"
    change(other, "CREATE TABLE something (a)")
    assert "not a GraphTrial store" in finding(examine(other), "store", "file").result
    newer = tmp_path / "newer.sqlite"
    Store(newer)
    change(newer, "UPDATE about SET value = '99' WHERE key = 'schema'")
    before = newer.read_bytes()
    assert "has schema 99" in finding(examine(newer), "store", "file").result
    assert newer.read_bytes() == before


@pytest.mark.slow
def test_leftovers_of_killed_processes_are_reported(results: Path) -> None:
    (trial,) = (results.parent / "trials").iterdir()
    (trial / "checkpoint.safetensors").write_bytes(b"left")
    old, foreign = results.parent / ".report.abcdefgh.graphtrial.tmp", results.parent / ".other.abcdefgh.tmp"
    (old / "new").mkdir(parents=True)
    foreign.mkdir()
    with staging_folder(results.parent / "report") as living:
        old.mkdir(exist_ok=True)  # the one who writes swept it
        actual = examine(results)
        assert wrong(actual) == []
        assert finding(actual, "store", "checkpoints").state == "note"
        assert finding(actual, "store", "leftovers").result == f"1 temporary folders: {old.name}"
        printed = CliRunner().invoke(app, ["doctor", "--clean", "--store", str(results), "--json"])
        assert printed.exit_code == 0, printed.output
        assert set(json.loads(printed.stdout)["removed"]) >= {str(old), str(trial / "checkpoint.safetensors")}
        assert living.is_dir()
    assert foreign.is_dir()
    assert not old.exists()
    assert not (trial / "checkpoint.safetensors").exists()
    assert (trial / "weights.safetensors").is_file()


@pytest.mark.slow
def test_study_is_compared_with_the_store_trial_by_trial(tmp_path: Path) -> None:
    file, path = tmp_path / "study.toml", tmp_path / "s.sqlite"
    file.write_text(STUDY)
    assert "0 of 2 trials are finished, 0 started, 2 missing" in examine(path, str(file))[-1].result
    from graphtrial.studies import load_study

    run_trials(load_study(str(file)).trials()[:1], Store(path), workers=0)
    assert "1 of 2 trials are finished, 0 started, 1 missing" in examine(path, str(file))[-1].result
    run_trials(load_study(str(file)).trials(), Store(path), workers=0)
    assert examine(path, str(file))[-1].state == "ok"


def test_package_that_is_absent_or_too_old_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    from graphtrial.doctor import machine

    lines = ["torch>=99.0", "numpy>=1.26", "rdkit>=2024.3; extra == 'chem'", "tomli>=2.0; python_version < '3.1'"]
    monkeypatch.setattr(machine, "requires", lambda name: lines)
    monkeypatch.setattr(machine, "installed_version", lambda name: None if name == "rdkit" else "2.13.0+cpu")
    actual = {f.check: f for f in check_packages()}
    assert actual["torch"].state == "wrong"
    assert actual["numpy"].state == "ok"
    assert "graphtrial[chem]" in actual["extra chem"].advice
    assert "tomli" not in actual


@pytest.mark.slow
def test_doctor_command_prints_json_and_sets_exit_code(results: Path) -> None:
    printed = CliRunner().invoke(app, ["doctor", "--store", str(results), "--json"])
    assert printed.exit_code == 0, printed.output
    assert json.loads(printed.stdout)["sound"]
    results.write_text("no database at all, but long enough to be taken for one" * 40)
    printed = CliRunner().invoke(app, ["doctor", "--store", str(results)])
    assert printed.exit_code == 1
    assert "store merge" in "".join(printed.stdout.split("\n"))


def test_searches_are_counted_and_a_changed_one_is_detected(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    (tuning,) = declared("2trials")
    search = record_search(Store(path), tuning, [50.0, 60.0])
    actual = finding(list(examine(path)), "store", "searches")
    assert (actual.state, "1 searches of 2 configurations" in actual.result) == ("ok", True)
    change(path, "UPDATE about SET value = replace(value, '10.0', '99.0') WHERE key LIKE 'search%'")
    changed = finding(list(examine(path)), "store", "searches")
    assert (changed.state, "was changed after it was written" in changed.result) == ("wrong", True)
    change(path, f"DELETE FROM about WHERE key = 'search {search.id}'")
    assert not [one for one in examine(path) if one.check == "searches"]
