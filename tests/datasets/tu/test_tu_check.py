"""`data check` of intact files whose published statistics are wrong, uncertain, or count self-loops."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.helpers.cli import CliRunner

from graphtrial.cli.main import app
from graphtrial.datasets.check import check
from graphtrial.datasets.statistics import SELF_LOOPS, Statistics, compare
from graphtrial.datasets.tu import CATALOG
from graphtrial.datasets.tu.catalog import DIFFERENCES
from graphtrial.graphs import Column, GraphSet

Archive = Callable[..., None]


@pytest.fixture
def archive(own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Archive:
    """Write a set of paths of four nodes under the name of a set of the collection, whose own archive is not here."""
    folder = tmp_path / "mirror" / "TU"
    folder.mkdir(parents=True)
    monkeypatch.setenv("GRAPHTRIAL_MIRROR", str(folder.parent))

    def write(name: str, graphs: int, classes: int, loops: int = 0) -> None:
        edges = [(4 * n + a, 4 * n + a + 1) for n in range(graphs) for a in (1, 2, 3)]
        lines = [f"{u}, {v}\n{v}, {u}\n" for u, v in edges] + [f"{n + 1}, {n + 1}\n" for n in range(loops)]
        with zipfile.ZipFile(folder / f"{name}.zip", "w") as opened:
            opened.writestr(f"{name}_A.txt", "".join(lines))
            opened.writestr(f"{name}_graph_indicator.txt", "".join(f"{n}\n" * 4 for n in range(1, graphs + 1)))
            opened.writestr(f"{name}_graph_labels.txt", "".join(f"{n % classes}\n" for n in range(graphs)))
            opened.writestr(f"{name}_node_labels.txt", "1\n2\n3\n4\n" * graphs)

    return write


def test_wrong_table_does_not_fail_an_unpublished_archive(archive: Archive) -> None:
    archive("MSRC_21C", 209, 17)
    facts = check("msrc_21c")
    assert facts["status"] == "unsettled"
    assert "classes 17 instead of 20 (must be equal)" in facts["reason"]
    result = CliRunner().invoke(app, ["data", "check", "msrc_21c"])
    assert result.exit_code == 0
    assert "unsettled: must be equal" in result.stdout
    assert "DIFFERS" not in result.stdout


def test_known_errors_of_the_table_list_the_correct_value(archive: Archive) -> None:
    archive("DHFR", 756, 2)
    rows = {row["what"]: row for row in check("dhfr")["rows"]}
    assert (rows["graphs"]["ours"], rows["graphs"]["published"], rows["graphs"]["agrees"]) == (756, 467, True)
    assert "repeats the 467 of COX2" in rows["graphs"]["reason"]
    assert rows["graphs"]["rule"] == "equal, known to be 756 instead"
    archive("Fingerprint", 2800, 15)
    rows = {row["what"]: row for row in check("fingerprint")["rows"]}
    assert (rows["graphs"]["agrees"], rows["classes"]["agrees"]) == (True, True)
    assert "the file has 15" in rows["classes"]["reason"]


@pytest.mark.parametrize("name", DIFFERENCES)
def test_every_listed_error_of_the_table_is_real(name: str) -> None:
    published = CATALOG[name].published
    for statistic, difference in published.differences.items():
        assert getattr(published, statistic) not in (None, difference.expected)


def test_published_dhfr_count_is_that_of_cox2() -> None:
    assert CATALOG["DHFR"].graphs == CATALOG["COX2"].graphs == 467


def looped(loops: list[int]) -> GraphSet:
    built = GraphSet.build([3, 3], [4, 4], np.tile([[0, 1, 1, 2], [1, 0, 2, 1]], 2))
    return built.with_column(SELF_LOOPS, Column(np.array(loops), "graph", "left out"))


@pytest.mark.parametrize(("published", "agrees"), [(2.0, True), (4.0, True), (3.0, True), (3.5, False), (5.0, False)])
def test_published_numbers_may_count_self_loops(published: float, agrees: bool) -> None:
    graphs = looped([3, 1])  # two links a graph; four with each self-loop, three with half of it
    rows = compare(Statistics(2, 3.0, published, undirected=True), graphs, [], exact=True)
    row = next(row for row in rows if row["what"] == "edges")
    assert row["agrees"] is agrees
    assert row["ours"] == 2.0
    assert ("4 self-loops" in row.get("reason", "")) is (agrees and published != 2.0)
    assert "must" in row["rule"] or agrees


def test_differing_statistics_never_agree(archive: Archive) -> None:
    archive("MSRC_9", 10, 3)
    result = CliRunner().invoke(app, ["data", "check", "msrc_9", "--json"])
    for facts in json.loads(result.stdout)["datasets"]:
        for row in facts["rows"]:
            assert row["agrees"] or "must" in row["rule"]


def test_all_names_are_checked_before_anything_is_prepared(own_home: Path) -> None:
    result = CliRunner().invoke(app, ["data", "prepare", "csl", "mutagg"])
    assert result.exit_code == 2
    assert result.stderr.startswith("graphtrial: no dataset called 'mutagg'")
    assert not (own_home / "datasets").exists()
