"""Export of a store without private data, and the shipped store."""

from __future__ import annotations

import getpass
import json
import lzma
import platform
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from tests.helpers.searched import declared, record_search
from tests.helpers.sites import plan, record, sample_store
from tests.helpers.stores import forge

from graphtrial.core.errors import CorruptFileError, GraphTrialError
from graphtrial.shipped import has_shipped_store, packed, ship, shipped_store
from graphtrial.trials import Store
from graphtrial.trials.store.searches import load_searches


@pytest.mark.slow
def test_export_is_bit_exact_for_finished_trials(tmp_path: Path) -> None:
    store = sample_store(tmp_path / "store.sqlite")
    built = ship(store, tmp_path / "copy.sqlite")
    copy = Store(tmp_path / "copy.sqlite")
    finished = {r.id: r for r in store.trials() if r.is_finished}
    assert (built.trials, built.left) == (len(finished), 1)
    assert {r.id for r in copy.trials()} == set(finished)
    for one in copy.trials():
        before = finished[one.id]
        assert (one.spec, one.scores, one.details, one.params) == (
            before.spec,
            before.scores,
            before.details,
            before.params,
        )
        assert [asdict(e) for e in copy.history(one.id)] == [asdict(e) for e in store.history(one.id)]
        assert one.started % 86400 == 0
        assert one.error is None
    assert built.epochs == sum(r.epochs or 0 for r in finished.values())


def test_export_contains_no_host_user_or_path(tmp_path: Path) -> None:
    store = Store(tmp_path / "store.sqlite")
    spec = plan()[0]
    record(store, spec, 50.0, epochs=2)
    private = {"host": platform.node(), "user": getpass.getuser(), "cwd": str(Path.cwd()), "python": "3.12"}
    forge(store.path, ("UPDATE trials SET environment = ?", (json.dumps(private),)))
    ship(store, tmp_path / "copy.sqlite")
    assert Store(tmp_path / "copy.sqlite").trials()[0].environment == {"python": "3.12"}
    content = (tmp_path / "copy.sqlite").read_bytes()
    assert str(Path.cwd()).encode() not in content
    assert not (tmp_path / "copy.sqlite-wal").exists()


@pytest.mark.parametrize("private", ["/home/someone/models.py", f"x {Path.home()}/y", "C:\\Users\\me"])
def test_private_text_in_a_result_raises(private: str, tmp_path: Path) -> None:
    store = Store(tmp_path / "store.sqlite")
    spec = plan()[0]
    record(store, replace(spec, plugins={private: "0" * 64}), 50.0, epochs=1)
    with pytest.raises(GraphTrialError, match="nothing was exported"):
        ship(store, tmp_path / "copy.sqlite")
    assert not (tmp_path / "copy.sqlite").exists()


def test_folder_as_export_target_raises(tmp_path: Path) -> None:
    store = sample_store(tmp_path / "store.sqlite")
    with pytest.raises(GraphTrialError, match="is a folder"):
        ship(store, tmp_path)


def test_empty_store_is_not_exported(tmp_path: Path) -> None:
    with pytest.raises(GraphTrialError, match="no finished trial"):
        ship(Store(tmp_path / "store.sqlite"), tmp_path / "copy.sqlite")


@pytest.mark.slow
def test_shipped_store_is_unpacked_once_into_the_cache(
    tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = sample_store(tmp_path / "store.sqlite")
    file = tmp_path / "package" / packed.FILE
    ship(store, file)
    monkeypatch.setattr(packed, "packed", lambda: file)
    assert has_shipped_store()
    opened = shipped_store()
    assert own_home in opened.path.parents
    assert len(opened.trials()) == len([r for r in store.trials() if r.is_finished])
    assert shipped_store().path == opened.path
    before = opened.path.read_bytes()
    for file_name in ("store.sqlite", "store.sha256"):  # a copy that was changed is unpacked again
        damaged = opened.path.with_name(file_name)
        content = bytearray(damaged.read_bytes())
        content[len(content) // 2] ^= 1
        damaged.write_bytes(content)
        assert shipped_store().path.read_bytes() == before
    damaged.unlink()
    assert shipped_store().path.read_bytes() == before
    assert opened.read_only
    file.write_bytes(lzma.compress(b"x")[:-4])
    with pytest.raises(CorruptFileError, match="damaged"):
        shipped_store()
    file.unlink()
    with pytest.raises(GraphTrialError, match="without results"):
        shipped_store()


@pytest.mark.slow
@pytest.mark.skipif(not has_shipped_store(), reason="this copy of the package has no results in it")
def test_shipped_store_is_readable_and_anonymous(own_home: Path, tmp_path: Path) -> None:
    store = shipped_store()
    trials = store.trials()
    assert trials
    assert all(trial.is_finished and trial.id == trial.spec.id for trial in trials)
    assert ship(store, tmp_path / "again.sqlite").trials == len(trials)


def test_shipped_trials_have_current_kernel_versions() -> None:
    kernels = [trial for trial in shipped_store().trials() if trial.spec.kind.noun == "kernel"]
    assert kernels
    for trial in kernels:
        assert trial.spec.model_version == trial.spec.kind.version(trial.spec.model.name)


def test_searches_are_exported_with_their_cost_and_without_paused_trials(tmp_path: Path) -> None:
    store = Store(tmp_path / "store.sqlite")
    (tuning,) = declared("3trials")
    record_search(store, tuning, [50.0, None, 60.0])
    built = ship(store, tmp_path / "copy.sqlite")
    copy = Store(tmp_path / "copy.sqlite")
    assert (built.searches, built.trials, built.left) == (1, 3, 1)
    assert load_searches(copy) == load_searches(store)
    assert {one.id for one in copy.trials()} == {one.id for one in store.trials() if one.status == "done"}


def test_a_search_without_its_tests_is_left_out(tmp_path: Path) -> None:
    store = Store(tmp_path / "store.sqlite")
    (tuning,) = declared("2trials")
    search = record_search(store, tuning, [50.0, 60.0])
    forge(
        store.path,
        ("DELETE FROM epochs WHERE trial = ?", search.tests),
        ("DELETE FROM trials WHERE id = ?", search.tests),
    )
    assert ship(store, tmp_path / "copy.sqlite").searches == 0
