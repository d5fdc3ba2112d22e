"""`graphtrial wikics`: from a folder of dumps to a trained model."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.helpers.cli import CliRunner

from graphtrial.cli.main import app
from graphtrial.datasets.custom import delete, names

RUNNER = CliRunner()


@pytest.fixture(autouse=True)
def forget(own_home: Path) -> Iterator[None]:
    yield
    for name in names():
        delete(name)


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dumps") / "made-up"
    result = RUNNER.invoke(app, ["wikics", "generate", "--out", str(folder), "--articles", "300", "--seed", "5"])
    assert result.exit_code == 0, result.output
    assert "300 articles, 100 redirects" in result.output
    return folder


def options(dumps: Path, *more: str) -> list[str]:
    given = ["--dumps", str(dumps), "--glove", str(dumps / "glove.txt"), "--labels", str(dumps / "labels.json")]
    return [*given, "--milestones", "11", "--memory", "1", *more]


def run(*words: str, code: int = 0) -> str:
    result = RUNNER.invoke(app, list(words))
    assert result.exit_code == code, result.output
    return result.output


@pytest.mark.slow
def test_built_dataset_trains_under_the_wikics_protocol(dumps: Path, tmp_path: Path) -> None:
    printed = run("wikics", "build", *options(dumps), "--out", "mine")
    assert "mine: 90 articles" in printed
    assert "data.json and metadata.json are in" in printed
    store = ["--store", str(tmp_path / "store.sqlite"), "--workers", "0", "--json"]
    rules = ["--protocol", "bgnn-v5/wikics", "--seeds", "1", "--splits", "2", "--max-epochs", "2"]
    run("run", "mine", "gcn", *rules, *store)
    facts = json.loads(run("data", "info", "mine", "--json"))
    assert len(facts["splits"]) == 20
    assert "--replace" in run("wikics", "build", *options(dumps), "--out", "mine", code=2)
    words = ["wikics", "build", *options(dumps), "--out", "other", "--validation", "val", "--json"]
    other = json.loads(RUNNER.invoke(app, words).stdout)  # progress is on stderr
    assert other["nodes"] == 90
    assert other["hash"] != facts["hash"]


def test_single_stage_and_dependencies_are_built(dumps: Path, tmp_path: Path) -> None:
    work = ["--work", str(tmp_path / "work")]
    printed = RUNNER.invoke(app, ["wikics", "stage", "categories", "--dumps", str(dumps), *work])
    folder = Path(printed.stdout.strip())
    header, first, *_ = (folder / "ranked-categories.tsv").read_text().splitlines()
    assert header.split("\t") == ["name", "score", "pages", "above"]
    assert first.startswith("Everything\t")
    assert not list((tmp_path / "work").glob("table-*"))
    assert "--labels" in run("wikics", "stage", "labels", "--dumps", str(dumps), *work, code=2)
    labels = ["--labels", str(dumps / "labels.json"), "--milestones", "11"]
    assert "--glove" in run("wikics", "stage", "features", "--dumps", str(dumps), *labels, *work, code=2)
    assert "stages are tables, articles" in run("wikics", "stage", "nothing", "--dumps", str(dumps), code=2)


def test_broken_rows_are_reported(dumps: Path, tmp_path: Path) -> None:
    folder = tmp_path / "dumps"
    shutil.copytree(dumps, folder)
    page = folder / "synthetic-page.sql.gz"
    text = gzip.decompress(page.read_bytes()).replace(b",'Article_7',", b",'Article_7\\',")
    page.write_bytes(gzip.compress(text))
    printed = run("wikics", "stage", "tables", "--dumps", str(folder), "--work", str(tmp_path / "work"))
    assert "warning: synthetic-page.sql.gz: 1 broken rows" in printed


def test_errors_are_one_line(dumps: Path, tmp_path: Path) -> None:
    assert "is there already" in run("wikics", "generate", "--out", str(dumps), code=2)
    assert "--links is tables or text" in run("wikics", "build", *options(dumps), "--out", "x", "--links", "y", code=2)
    alone = tmp_path / "alone"
    alone.mkdir()
    shutil.copy(dumps / "synthetic-pages-articles-multistream.xml.bz2", alone)
    words = options(dumps)
    words[1] = str(alone)
    printed = run("wikics", "build", *words, "--out", "x", code=2)
    assert "need the SQL dump of page and redirect and pagelinks; --links text" in printed
    (tmp_path / "labels.json").write_text('{"a": ["No such"], "b": ["Nor this"]}')
    words = options(dumps)
    words[5] = str(tmp_path / "labels.json")
    assert "none of the 2 categories of the labels is a milestone" in run(
        "wikics", "build", *words, "--out", "x", code=2
    )
    assert names() == []
