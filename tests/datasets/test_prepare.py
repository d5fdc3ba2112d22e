"""Preparation: once for concurrent processes, rebuilt when corrupt, only from verified files."""

from __future__ import annotations

import hashlib
import json
import logging
import multiprocessing
import os
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphtrial.core.errors import CorruptFileError, GraphTrialError, InvalidGraphError, UnknownNameError
from graphtrial.datasets import DATASETS, DatasetSpec, Source, Split, Statistics, info, load, prepare
from graphtrial.graphs import Column, GraphSet
from graphtrial.io import File
from graphtrial.tasks import GraphRegression

CONTENT = b"3 4 5 6 7 8\n"
BETTER = b"3 3 3 3 3 3\n"


class Toy(DatasetSpec):
    """Toy rings for tests, one per number in a file."""

    name = "toy"
    domain = "tests"
    task = GraphRegression()
    licence = "none"
    paper = "none"
    published = Statistics(graphs=6, nodes=5.5, edges=5.5, split=(2, 2, 2))
    sources = (
        Source("better", "never published", (File("toy/better.txt", sha256=hashlib.sha256(BETTER).hexdigest()),)),
        Source("plain", "the plain one", (File("toy/sizes.txt", sha256=hashlib.sha256(CONTENT).hexdigest()),)),
        Source("free", "a file without a published hash", (File("toy/free.txt"),), exact=False),
    )

    def parse(self, source: Source, raw: Mapping[str, Path]) -> GraphSet:
        if "TOY_LOG" in os.environ:
            with open(os.environ["TOY_LOG"], "a") as log:
                log.write("parsed\n")
        sizes = [int(n) for n in raw[source.files[0].name].read_text().split()]
        source_nodes = np.concatenate([np.arange(n) for n in sizes])
        targets = np.concatenate([(np.arange(n) + 1) % n for n in sizes])
        columns = {"y": Column(np.array(sizes, np.float32), "graph", "size")}
        return GraphSet.build(sizes, sizes, np.stack([source_nodes, targets]), columns)

    def split(self, graphs: GraphSet, source: Source, raw: Mapping[str, Path]) -> Sequence[Split]:
        return [Split(np.array([0, 1]), np.array([2, 3]), np.array([4, 5]))]


@pytest.fixture
def toys(own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A mirror with the toy's plain file."""
    folder = tmp_path / "mirror"
    (folder / "toy").mkdir(parents=True)
    (folder / "toy" / "sizes.txt").write_bytes(CONTENT)
    monkeypatch.setenv("GRAPHTRIAL_MIRROR", str(folder))
    monkeypatch.setenv("TOY_LOG", str(tmp_path / "log"))
    monkeypatch.setitem(DATASETS._things, "toy", Toy)
    return folder


def parses(tmp_path: Path) -> int:
    log = tmp_path / "log"
    return len(log.read_text().splitlines()) if log.exists() else 0


def test_dataset_is_prepared_once_and_read_from_cache(toys: Path, own_home: Path, tmp_path: Path) -> None:
    first, second = load("toy"), load("toy")
    assert parses(tmp_path) == 1
    assert first.hash == second.hash == first.provenance["hash"]
    assert second.provenance["source"] == "plain"
    assert second.provenance["files"][0]["sha256"] == hashlib.sha256(CONTENT).hexdigest()
    np.testing.assert_array_equal(second.splits[0].test, [4, 5])
    assert json.loads(json.dumps(dict(second.provenance))) == second.provenance
    prepare("toy", force=True)
    assert parses(tmp_path) == 2


@pytest.mark.slow
def test_sixteen_processes_prepare_it_once(toys: Path, tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    barrier, hashes = context.Barrier(16), context.SimpleQueue()
    workers = [context.Process(target=_load_at_once, args=(barrier, hashes)) for _ in range(16)]
    for worker in workers:
        worker.start()
    actual = {hashes.get() for _ in workers}
    for worker in workers:
        worker.join(30)
    assert [worker.exitcode for worker in workers] == [0] * 16
    assert len(actual) == 1
    assert parses(tmp_path) == 1


def _load_at_once(barrier: Any, hashes: Any) -> None:
    barrier.wait(30)
    hashes.put(load("toy").hash)


@pytest.mark.slow
def test_corrupt_cache_is_detected_and_rebuilt(toys: Path, own_home: Path, caplog: pytest.LogCaptureFixture) -> None:
    expected = load("toy").hash
    chance = random.Random(0)
    files = sorted(p for p in (own_home / "datasets").rglob("*") if p.is_file() and p.suffix != ".lock")
    assert len(files) > 8
    for path in files:
        for damage in ("flip", "flip", "flip", "truncate", "empty", "remove"):
            content = bytearray(path.read_bytes())
            caplog.clear()
            if damage == "remove":
                path.unlink()
            elif damage == "empty":
                path.write_bytes(b"")
            elif damage == "truncate":
                path.write_bytes(content[: chance.randrange(1, len(content))])
            else:
                content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
                path.write_bytes(content)
            assert load("toy").hash == expected, (path, damage)
            # Only the padding of an .npy header may change without a consequence.
            assert "rebuilding it" in caplog.text or (damage == "flip" and path.suffix == ".npy"), (path, damage)


def test_first_available_source_is_cached(toys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = load("toy")
    monkeypatch.delenv("GRAPHTRIAL_MIRROR")
    assert load("toy").hash == plain.hash, "what is kept needs no raw files"
    with pytest.raises(GraphTrialError, match=r"toy/sizes.txt is not on this machine"):
        prepare("toy", force=True)


def test_preferred_source_is_used_once_available(toys: Path) -> None:
    assert load("toy").provenance["source"] == "plain"
    (toys / "toy" / "better.txt").write_bytes(BETTER)
    with pytest.raises(InvalidGraphError, match=r"toy has nodes 3.0, published is 5.5 .*; it was not saved"):
        load("toy")


def test_differing_synthetic_dataset_warns(toys: Path, caplog: pytest.LogCaptureFixture) -> None:
    (toys / "toy" / "sizes.txt").unlink()
    (toys / "toy" / "free.txt").write_bytes(BETTER)
    with caplog.at_level(logging.WARNING):
        built = load("toy")
    assert "toy has nodes 3.0, published is 5.5" in caplog.text
    assert [row["agrees"] for row in built.provenance["statistics"]] == [True, False, False, True]
    assert built.provenance["files"][0]["sha256"] == hashlib.sha256(BETTER).hexdigest()
    assert load("toy").hash == built.hash


def test_raw_file_with_wrong_checksum_raises(toys: Path, own_home: Path) -> None:
    (toys / "toy" / "sizes.txt").write_bytes(b"9 9 9 9 9 9\n")
    with pytest.raises(CorruptFileError, match=r"sizes.txt has sha256"):
        load("toy")
    assert not [p for p in (own_home / "datasets").iterdir() if p.is_dir()]


def test_parser_version_is_part_of_the_cache_key(toys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load("toy")
    monkeypatch.setattr(Toy, "parser_version", 2)
    load("toy")
    assert parses(tmp_path) == 2


def test_missing_files_raise_with_their_names(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DATASETS._things, "toy", Toy)
    with pytest.raises(GraphTrialError, match=r"toy needs toy/better.txt: put it into a folder as toy/better.txt"):
        load("toy")


def test_read_only_cache_raises(toys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("GRAPHTRIAL_HOME", str(tmp_path / "file"))
    with pytest.raises(GraphTrialError, match="cannot create the folder"):
        load("toy")


def test_unknown_dataset_gets_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match=r"no dataset called 'zink'. Did you mean 'zinc'?"):
        load("zink")


def test_info_has_metadata_and_no_paths(toys: Path, own_home: Path) -> None:
    facts = info("toy")
    text = json.dumps(facts)
    assert str(own_home) not in text
    assert facts["title"] == "Toy rings for tests, one per number in a file."
    assert facts["nodes"] == {"mean": 5.5, "min": 3, "max": 8}
    assert facts["splits"] == [{"train": 2, "val": 2, "test": 2}]
    assert facts["source_means"] == "the plain one"
    assert (facts["metric"], facts["task"]) == ("MAE", "graph-regression")
