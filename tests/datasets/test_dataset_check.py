"""Every verdict of `data check`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.helpers.cli import CliRunner

from graphtrial.cli.main import app
from graphtrial.datasets import DATASETS, DatasetSpec, Source, Split, Statistics, load
from graphtrial.datasets.check import all_names, check, summary
from graphtrial.datasets.statistics import Difference
from graphtrial.graphs import Column, GraphSet
from graphtrial.io import File
from graphtrial.tasks import GraphRegression

CONTENT = b"rings\n"
FACTS = Statistics(graphs=6, nodes=3.0, edges=3.0, split=(2, 2, 2))


class Rings(DatasetSpec):
    """Six rings of three nodes, for tests."""

    name = "rings"
    domain = "tests"
    task = GraphRegression()
    licence = "none"
    paper = "none"
    published = FACTS
    sources = (
        Source(
            "first", "it", (File("t/rings.txt", "https://x.invalid/rings.txt", hashlib.sha256(CONTENT).hexdigest()),)
        ),
        Source("second", "it", (File("t/other.txt", None, hashlib.sha256(CONTENT).hexdigest()),)),
    )

    def parse(self, source: Source, raw: Mapping[str, Path]) -> GraphSet:
        ends = np.tile([[0, 1, 2], [1, 2, 0]], 6)
        return GraphSet.build([3] * 6, [3] * 6, ends, {"y": Column(np.zeros(6, np.float32), "graph", "nothing")})

    def split(self, graphs: GraphSet, source: Source, raw: Mapping[str, Path]) -> Sequence[Split]:
        return [Split(np.array([0, 1]), np.array([2, 3]), np.array([4, 5]))]


@pytest.fixture
def rings(own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The dataset, its file in a mirror of its own."""
    path = tmp_path / "mirror" / "t" / "rings.txt"
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT)
    monkeypatch.setenv("GRAPHTRIAL_MIRROR", str(tmp_path / "mirror"))
    monkeypatch.setitem(DATASETS._things, "rings", Rings)
    monkeypatch.setattr(Rings, "published", FACTS)
    return path


def test_equal_statistics_agree(rings: Path) -> None:
    facts = check("rings")
    assert (facts["status"], facts["source"], facts["exact"]) == ("agrees", "first", True)
    assert [row["what"] for row in facts["rows"]] == ["graphs", "nodes", "edges", "split"]


def test_documented_difference_is_explained(rings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    registered = replace(FACTS, edges=4.0, differences={"edges": Difference(3.0, "a misprint")})
    monkeypatch.setattr(Rings, "published", registered)
    facts = check("rings")
    assert (facts["status"], facts["reason"]) == ("explained", "edges: a misprint")


def test_difference_is_reported_for_cached_data(rings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert check("rings")["status"] == "agrees"
    monkeypatch.setattr(Rings, "published", replace(FACTS, nodes=3.5))
    facts = check("rings")
    assert facts["status"] == "differs"
    assert facts["reason"] == "nodes 3.0 instead of 3.5 (must round to the published digits)"


def test_implausible_data_have_status_failed(rings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Rings, "published", replace(FACTS, nodes=3.5))
    facts = check("rings")
    assert facts["status"] == "failed"
    assert "it was not saved" in facts["reason"]


def test_corrupt_data_have_status_failed(rings: Path) -> None:
    rings.write_bytes(b"rongs\n")
    assert "has sha256" in check("rings")["reason"]


def test_dataset_without_published_statistics_has_its_own_status(rings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Rings, "published", None)
    assert check("rings")["status"] == "nothing published"


def test_missing_files_are_listed_with_their_url(rings: Path) -> None:
    rings.unlink()
    facts = check("rings")
    assert facts["status"] == "missing"
    assert facts["files"] == [
        {"name": "t/rings.txt", "url": "https://x.invalid/rings.txt"},
        {"name": "t/other.txt", "url": None},
    ]
    assert "t/rings.txt from https://x.invalid/rings.txt; or t/other.txt from its publisher" in facts["reason"]
    assert "GRAPHTRIAL_OFFLINE forbids" in check("rings", fetch=True)["reason"]


def test_large_datasets_can_be_excluded(rings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Rings, "large", True)
    assert check("rings", large=False)["status"] == "skipped"
    assert check("rings")["status"] == "agrees"


def test_slow_datasets_are_prepared_on_request_only(rings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Rings, "sources", (replace(Rings.sources[0], hours=30.0),))
    facts = check("rings")
    assert facts["status"] == "skipped"
    assert facts["reason"].startswith(
        "preparation takes about 30 core hours; start it with `graphtrial data prepare rings`"
    )
    load("rings")
    assert check("rings")["status"] == "agrees"


def test_tsp_is_skipped_by_default(own_home: Path) -> None:
    assert check("tsp")["status"] == "skipped"


def test_every_dataset_is_listed_once() -> None:
    DATASETS.get("ENZYMES")
    names = all_names()
    assert names.count("enzymes") == 1
    assert "ENZYMES" not in names
    assert len(names) == len(set(names)) > 140


def test_summary_counts() -> None:
    assert summary([{"status": "agrees"}, {"status": "missing"}, {"status": "agrees"}]) == {"agrees": 2, "missing": 1}


@pytest.mark.parametrize("how", ["agrees", "differs", "absent"])
def test_exit_code_reflects_the_worst_status(how: str, rings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if how == "differs":
        check("rings")
        monkeypatch.setattr(Rings, "published", replace(FACTS, nodes=3.5))
    elif how == "absent":
        rings.unlink()
    done = CliRunner().invoke(app, ["data", "check", "rings", "--json"])
    assert done.exit_code == {"agrees": 0, "differs": 1, "absent": 3}[how]
    actual = json.loads(done.stdout)
    assert actual["datasets"][0]["status"] == {"agrees": "agrees", "differs": "differs", "absent": "missing"}[how]
    assert sum(actual["summary"].values()) == 1
    text = CliRunner().invoke(app, ["data", "check", "rings"]).stdout
    assert {"agrees": "1 agrees", "differs": "DIFFERS", "absent": "missing"}[how] in text


def test_no_dataset_to_check_raises(own_home: Path) -> None:
    done = CliRunner().invoke(app, ["data", "check"])
    assert done.exit_code == 2
    assert "name the datasets to check, or check --all of them" in done.output
