from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.helpers.cli import CliRunner
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


def finding(found: list[Finding], area: str, what: str) -> Finding:
    (wanted,) = [f for f in found if (f.area, f.what) == (area, what)]
    return wanted


def wrong(found: list[Finding]) -> list[str]:
    return [f"{f.area}: {f.what}" for f in found if f.state == "wrong"]


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
def test_nothing_is_wrong_with_a_sound_machine(results: Path) -> None:
    found = examine(results)
    assert wrong(found) == []
    assert "1 done" in finding(found, "store", "trials").says
    assert "all checksums match" in finding(found, "cache", "datasets").says
    assert finding(found, "machine", "kernels").state == "ok"
    assert finding(found, "packages", "torch").state == "ok"


def test_there_need_not_be_a_store_or_a_cache_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHTRIAL_HOME", str(tmp_path / "none yet" / "cache"))
    found = examine(tmp_path / "nowhere" / "store.sqlite")
    assert wrong(found) == []
    assert "no trials so far" in finding(found, "store", "file").says
    assert not (tmp_path / "nowhere").exists()  # looking leaves no traces
    assert not (tmp_path / "none yet").exists()


def test_a_flipped_byte_in_the_cache_is_found(own_home: Path, tmp_path: Path) -> None:
    dataset = load("csl")
    encode(dataset.graphs, make_encoding(Component("laplacian", {"k": 4})), "encoding")  # type: ignore[arg-type]
    for room in ("datasets", "encodings"):
        file = max((own_home / room).rglob("*.npy"), key=lambda path: path.stat().st_size)
        content = bytearray(file.read_bytes())
        content[-3] ^= 1
        file.write_bytes(content)
    found = examine(tmp_path / "s.sqlite")
    assert wrong(found) == ["cache: datasets", "cache: encodings"]
    assert "computed again" in finding(found, "cache", "datasets").advice


@pytest.mark.slow
def test_a_changed_raw_file_and_a_wrong_mirror_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from graphtrial.datasets import DATASETS

    files = [file for source in DATASETS.get("zinc")().sources for file in source.files]
    file = next(file for file in files if file.sha256 is not None)
    (tmp_path / "mirror" / file.name).parent.mkdir(parents=True)
    (tmp_path / "mirror" / file.name).write_bytes(b"something else")
    monkeypatch.setenv("GRAPHTRIAL_MIRROR", str(tmp_path / "mirror"))
    found = examine(tmp_path / "s.sqlite")
    assert wrong(found) == ["mirror: raw files"]
    assert (tmp_path / "mirror" / file.name).exists()  # looked at, not touched
    monkeypatch.setenv("GRAPHTRIAL_MIRROR", str(tmp_path / "absent"))
    assert wrong(examine(tmp_path / "s.sqlite")) == ["mirror: folder"]


@pytest.mark.slow
def test_a_store_that_something_else_wrote_to_is_found(results: Path) -> None:
    (trial,) = (record.id for record in Store(results).trials())
    change(
        results,
        "UPDATE trials SET test = test + 8",
        "INSERT INTO epochs VALUES ('stranger', 1, 0.1, 1, 1, 1, 1)",
    )
    found = examine(results)
    assert wrong(found) == ["store: file", f"store: trial {trial}"]
    assert "1 epochs belong to no trial" in finding(found, "store", "file").says
    assert "changed after it was written" in finding(found, "store", f"trial {trial}").says
    assert "do not trust" in finding(found, "store", f"trial {trial}").advice


@pytest.mark.slow
@pytest.mark.parametrize("column", ["lr", "train_loss", "val_loss", "val_score", "seconds"])
def test_a_changed_epoch_is_found(column: str, results: Path) -> None:
    (trial,) = (record.id for record in Store(results).trials())
    change(results, f"UPDATE epochs SET {column} = {column} + 0.125 WHERE epoch = 1")
    assert wrong(examine(results)) == [f"store: trial {trial}"]


@pytest.mark.slow
def test_a_trial_that_was_lost_is_found(results: Path) -> None:
    change(results, "DELETE FROM trials", "DELETE FROM epochs")
    assert wrong(examine(results)) == ["store: digests"]


@pytest.mark.slow
def test_changed_and_lost_weights_are_found(results: Path) -> None:
    (file,) = results.parent.rglob("weights.safetensors")
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    assert wrong(examine(results)) == ["store: weights"]
    file.unlink()
    assert finding(examine(results), "store", "weights").state == "note"


@pytest.mark.slow
def test_a_damaged_a_foreign_and_another_schema_are_told_apart(results: Path, tmp_path: Path) -> None:
    content = bytearray(results.read_bytes())
    content[5000:9000] = os.urandom(4000)
    results.write_bytes(content)
    assert "store: file" in wrong(examine(results))
    other = tmp_path / "other.sqlite"
    change(other, "CREATE TABLE something (a)")
    assert "not a GraphTrial store" in finding(examine(other), "store", "file").says
    newer = tmp_path / "newer.sqlite"
    Store(newer)
    change(newer, "UPDATE about SET value = '99' WHERE key = 'schema'")
    before = newer.read_bytes()
    assert "has schema 99" in finding(examine(newer), "store", "file").says
    assert newer.read_bytes() == before


@pytest.mark.slow
def test_what_killed_processes_left_is_told(results: Path) -> None:
    (trial,) = (results.parent / "trials").iterdir()
    (trial / "checkpoint.safetensors").write_bytes(b"left")
    old, foreign = results.parent / ".report.abcdefgh.graphtrial.tmp", results.parent / ".other.abcdefgh.tmp"
    (old / "new").mkdir(parents=True)
    foreign.mkdir()
    with staging_folder(results.parent / "report") as living:
        old.mkdir(exist_ok=True)  # the one who writes swept it
        found = examine(results)
        assert wrong(found) == []
        assert finding(found, "store", "checkpoints").state == "note"
        assert finding(found, "store", "leftovers").says == f"1 temporary folders: {old.name}"
        told = CliRunner().invoke(app, ["doctor", "--clean", "--store", str(results), "--json"])
        assert told.exit_code == 0, told.output
        assert set(json.loads(told.stdout)["removed"]) >= {str(old), str(trial / "checkpoint.safetensors")}
        assert living.is_dir()
    assert foreign.is_dir()
    assert not old.exists()
    assert not (trial / "checkpoint.safetensors").exists()
    assert (trial / "weights.safetensors").is_file()


@pytest.mark.slow
def test_a_study_is_compared_with_the_store_trial_by_trial(tmp_path: Path) -> None:
    file, path = tmp_path / "study.toml", tmp_path / "s.sqlite"
    file.write_text(STUDY)
    assert "0 of 2 trials are finished, 0 started, 2 missing" in examine(path, str(file))[-1].says
    from graphtrial.studies import load_study

    run_trials(load_study(str(file)).trials()[:1], Store(path), workers=0)
    assert "1 of 2 trials are finished, 0 started, 1 missing" in examine(path, str(file))[-1].says
    run_trials(load_study(str(file)).trials(), Store(path), workers=0)
    assert examine(path, str(file))[-1].state == "ok"


def test_a_package_that_is_absent_or_too_old_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    from graphtrial.doctor import machine

    lines = ["torch>=99.0", "numpy>=1.26", "rdkit>=2024.3; extra == 'chem'", "tomli>=2.0; python_version < '3.1'"]
    monkeypatch.setattr(machine, "requires", lambda name: lines)
    monkeypatch.setattr(machine, "_version", lambda name: None if name == "rdkit" else "2.13.0+cpu")
    found = {f.what: f for f in check_packages()}
    assert found["torch"].state == "wrong"
    assert found["numpy"].state == "ok"
    assert "graphtrial[chem]" in found["extra chem"].advice
    assert "tomli" not in found


@pytest.mark.slow
def test_the_command_prints_json_and_says_wrong_by_its_exit_code(results: Path) -> None:
    told = CliRunner().invoke(app, ["doctor", "--store", str(results), "--json"])
    assert told.exit_code == 0, told.output
    assert json.loads(told.stdout)["sound"]
    results.write_text("no database at all, but long enough to be taken for one" * 40)
    told = CliRunner().invoke(app, ["doctor", "--store", str(results)])
    assert told.exit_code == 1
    assert "store merge" in "".join(told.stdout.split("\n"))
