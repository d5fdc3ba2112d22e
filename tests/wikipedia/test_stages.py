"""Stages: cached by their inputs, rerun when killed; recognition of dump files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from graphtrial.core.errors import GraphTrialError
from graphtrial.wikipedia.dumps.files import find_dumps
from graphtrial.wikipedia.labels import read_mapping
from graphtrial.wikipedia.stages import StageCache, StageResult, identity, stage_cache


def test_stages_are_cached_by_parameters_and_inputs(tmp_path: Path) -> None:
    calls: list[int] = []

    def make(folder: Path) -> dict[str, Any]:
        calls.append(1)
        (folder / "x").write_text("x")
        return {"count": len(calls)}

    received: list[StageResult] = []
    stages = StageCache(tmp_path, received.append)
    first = stages.stage("s", {"a": 1}, [], make)
    assert stages.stage("s", {"a": 1}, [], make).report == {"count": 1}
    other = stages.stage("s", {"a": 2}, [], make)
    assert other.report == {"count": 2}
    above = [stages.stage("t", {}, [each], make).key for each in (first, other, first)]
    assert above[0] == above[2] != above[1]
    assert [built.is_cached for built in received] == [False, True, False, False, False, True]
    assert len(calls) == 4


def test_failed_stage_is_rerun(tmp_path: Path) -> None:
    def fail(folder: Path) -> dict[str, Any]:
        (folder / "half").write_text("x")
        raise GraphTrialError("no")

    stages = StageCache(tmp_path)
    with pytest.raises(GraphTrialError):
        stages.stage("s", {}, [], fail)
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []
    assert not stages.stage("s", {}, [], lambda folder: {}).is_cached


def test_stage_without_report_is_rerun(tmp_path: Path) -> None:
    stages = StageCache(tmp_path)
    built = stages.stage("s", {}, [], lambda folder: {"n": 1})
    (built.folder / "report.json").unlink()
    assert stages.stage("s", {}, [], lambda folder: {"n": 2}).report == {"n": 2}


def test_killed_stage_is_rerun(tmp_path: Path) -> None:
    script = """
        import sys, time
        from pathlib import Path
        from graphtrial.wikipedia.stages import StageCache

        def make(folder):
            (folder / "half").write_text("x")
            print("working", flush=True)
            time.sleep(60)
            return {}

        stages = StageCache(Path(sys.argv[1]))
        stages.stage("before", {}, [], lambda folder: {})
        stages.stage("s", {}, [], make)
    """
    command = [sys.executable, "-c", textwrap.dedent(script), str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "working\n"
        os.kill(process.pid, signal.SIGKILL)
    assert list(tmp_path.glob(".s-*.tmp"))
    stages = StageCache(tmp_path)
    assert stages.stage("before", {}, [], lambda folder: {}).is_cached
    built = stages.stage("s", {}, [], lambda folder: {"done": True})
    assert not built.is_cached
    assert built.report == {"done": True}
    assert not list(tmp_path.glob(".s-*.tmp"))
    assert not (built.folder / "half").exists()


def test_changed_file_has_another_cache_key(tmp_path: Path) -> None:
    path = tmp_path / "dump"
    path.write_text("a")
    before = identity(path)
    path.write_text("ab")
    assert identity(path) != before
    with pytest.raises(GraphTrialError, match="cannot read"):
        identity(tmp_path / "nothing")


def test_stages_are_in_the_cache_by_default(own_home: Path) -> None:
    assert stage_cache().folder == own_home / "wikics"


def test_dumps_are_located_by_name(tmp_path: Path) -> None:
    expected = [
        *("enwiki-20240101-pages-articles10.xml-p1p2.bz2", "enwiki-20240101-pages-articles2.xml-p1p2.bz2"),
        *("enwiki-20240101-page.sql.gz", "enwiki-20240101-pagelinks.sql.gz", "my_wiki_redirect.sql"),
    ]
    other = ["enwiki-20240101-page_props.sql.gz", "enwiki-20240101-langlinks.sql.gz", "md5sums.txt", "notes.xml"]
    other += ["enwiki-20240101-pages-articles-multistream-index.txt.bz2"]
    for name in (*expected, *other):
        (tmp_path / name).touch()
    actual = find_dumps(tmp_path)
    assert [path.name for path in actual.articles] == [expected[1], expected[0]]
    assert {table: path.name for table, path in actual.tables.items()} == {
        "page": expected[2],
        "pagelinks": expected[3],
        "redirect": expected[4],
    }
    (tmp_path / "enwiki-20240101-pages-articles-multistream.xml.bz2").touch()
    assert [path.name for path in find_dumps(tmp_path).articles] == [
        "enwiki-20240101-pages-articles-multistream.xml.bz2"
    ]
    (tmp_path / "dewiki-20240101-page.sql.gz").touch()
    with pytest.raises(GraphTrialError, match="two dumps of page"):
        find_dumps(tmp_path)


def test_folders_without_articles_raise(tmp_path: Path) -> None:
    with pytest.raises(GraphTrialError, match="no dump of articles"):
        find_dumps(tmp_path)
    with pytest.raises(GraphTrialError, match="no folder"):
        find_dumps(tmp_path / "nothing")


@pytest.mark.parametrize("text", ["[]", "{}", '{"a": ["x"]}', '{"a": "x", "b": ["y"]}', '{"a": [], "b": ["y"]}'])
def test_invalid_mappings_raise(tmp_path: Path, text: str) -> None:
    (tmp_path / "labels.json").write_text(text)
    with pytest.raises(GraphTrialError, match="must map two classes"):
        read_mapping(str(tmp_path / "labels.json"))


def test_class_order_of_the_mapping_is_kept(tmp_path: Path) -> None:
    (tmp_path / "labels.json").write_text('{"z": ["Two_words", "Two words"], "a": ["One"]}')
    assert list(read_mapping(str(tmp_path / "labels.json")).items()) == [("z", ["Two words"]), ("a", ["One"])]
    with pytest.raises(GraphTrialError, match="no file"):
        read_mapping(str(tmp_path / "other.json"))
