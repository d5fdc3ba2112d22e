"""The papers' tables in their own layout: every printed row in one place, ours in theirs, commands for the rest."""

from __future__ import annotations

import shlex
from collections import Counter
from functools import cache

import pytest
from tests.helpers.filled_store import Filler

from graphtrial.core.spec import Component, parse_value
from graphtrial.nn import MODELS
from graphtrial.published import published_results
from graphtrial.published.papers import TABLES as LAYOUTS
from graphtrial.results import result_rows
from graphtrial.results.printed import PrintedTable, printed_tables
from graphtrial.shipped import shipped_store
from graphtrial.studies import catalog
from graphtrial.training import PROTOCOLS
from graphtrial.trials import Store


@cache
def empty() -> dict[str, PrintedTable]:
    """Return all tables without a result of ours, by study."""
    return {table.study: table for table in printed_tables([])}


def the(table: PrintedTable, **expected: object) -> list[object]:
    return [cell for cell in table.cells if all(getattr(cell.printed, key) == value for key, value in expected.items())]


def test_every_printed_row_has_one_cell() -> None:
    printed = [row for row in published_results() if (row.paper, row.table) in LAYOUTS]
    assert [(table.paper, table.number) for table in empty().values()] == list(LAYOUTS)
    seen = Counter(id(cell.printed) for table in empty().values() for cell in table.cells)
    assert set(seen.values()) == {1}
    assert sum(seen.values()) == len(printed)


@pytest.mark.parametrize("name", [f"{paper}/table-{number}" for paper, number in LAYOUTS])
def test_missing_cells_have_a_command_or_a_reason(name: str) -> None:
    table = empty()[name]
    assert name in catalog()
    for cell in table.cells:
        assert not cell.matches
        if cell.printed.status == "not-used":
            continue
        assert cell.is_missing
        assert cell.command or cell.reason, cell.printed
        if not cell.command:
            continue
        program, verb, first, *words = shlex.split(cell.command)
        assert (program, verb) in (("graphtrial", "run"), ("graphtrial", "study"))
        options = dict(zip(words[verb == "run" :: 2], words[(verb == "run") + 1 :: 2], strict=True))
        if verb == "run":
            assert words[0] in MODELS
            assert options["--protocol"] in PROTOCOLS
            assert options["--protocol"].partition("/")[0] == table.paper
            width = [parse_value(value) for key, value in _settings(words[1:]) if key == "layers"]
            assert not width or cell.printed.layers in (None, *width)
        else:
            assert first == name
            assert set(options) == {"--datasets", "--models"}


def _settings(words: list[str]) -> list[tuple[str, str]]:
    pairs = [value for option, value in zip(words[::2], words[1::2], strict=True) if option == "--set"]
    return [(key, value) for key, _, value in (pair.partition("=") for pair in pairs)]


def test_lines_and_groups_match_the_paper() -> None:
    zinc = empty()["bgnn-v5/table-3"]
    assert zinc.layout.groups == [""]
    assert [(line.label, *line.before) for line in zinc.lines][:3] == [
        ("MLP", "4", "108975"),
        ("vanilla GCN", "4", "103077"),
        ("vanilla GCN", "16", "505079"),
    ]
    pixels = empty()["bgnn-v5/table-7"]
    assert pixels.layout.groups == ["MNIST", "CIFAR10"]
    assert all(None not in line.cells for line in pixels.lines)
    rings = [line for line in pixels.lines if line.label == "RingGNN" and line.before == ("2",)]
    assert [[cell.printed.params for cell in line.cells if cell] for line in rings] == [
        [105398, 105165],
        [505182, 504949],
    ]
    assert empty()["bgnn-v5/table-11"].layout.groups == ["200 graphs", "500 graphs", "1000 graphs", "5000 graphs"]
    assert len(empty()["bgnn-v5/table-12"].layout.groups) == 7
    assert empty()["bgnn-v1/table-2"].layout.groups == ["seed 1", "seed 2"]
    assert [line.heading for line in empty()["bgnn-v1/table-2"].lines][::9] == ["ENZYMES", "DD", "PROTEINS"]
    assert empty()["tudataset/table-1"].layout.groups[0] == "ENZYMES"
    assert empty()["wikics/table-3"].layout.groups == ["ROC-AUC", "AP"]
    csl = empty()["bgnn-v5/table-10"]
    assert list(dict.fromkeys(line.heading for line in csl.lines)) == [
        "with Laplacian eigenvectors, absolute values",
        "without positions",
    ]


def test_result_rows_match_their_printed_rows(results: Store, fill: Filler) -> None:
    laplacian = Component("laplacian", {"k": 20, "sign": "absolute"})
    fill("gcn", [99.0, 100.0, 98.0], encoding=laplacian, params=103847)
    fill("gcn", [10.0, 10.0, 10.0])
    tables = {table.study: table for table in printed_tables(result_rows(results.trials()))}
    filled = [(table.study, cell) for table in tables.values() for cell in table.cells if cell.matches]
    assert {name for name, _ in filled} == {"bgnn-v5/table-10"}
    by_label = {cell.printed.label: cell for _, cell in filled}
    assert set(by_label) == {"GCN", "All MP-GCNs"}
    (matches,) = by_label["GCN"].matches
    assert matches.score
    assert matches.score.mean == pytest.approx(99.0)
    assert [one.row.label for one in by_label["All MP-GCNs"].matches] == ["gcn"]


def test_two_repetitions_of_a_table_are_the_first_two_seeds_of_the_protocol(results: Store, fill: Filler) -> None:
    built = next(cell for cell in empty()["bgnn-v5/table-16"].cells if cell.printed.label == "GIN" and cell.command)
    words = shlex.split(built.command)
    settings = {key: parse_value(value) for key, value in _settings(words[4:])}
    seeds = PROTOCOLS.get("bgnn-v5/enzymes").seeds
    specs = fill("gin", [50.0, 60.0], dataset="enzymes", protocol="bgnn-v5/enzymes@1", arguments=settings)
    assert [spec.seed for spec in specs] == [0, 1]  # which are not those of the protocol
    tables = {table.study: table for table in printed_tables(result_rows(results.trials()))}
    scores = [one.score for cell in tables["bgnn-v5/table-16"].cells for one in cell.matches]
    assert scores == [None, None] or not {0, 1} & set(seeds)


def test_shipped_rows_are_in_the_tables_of_their_verdicts() -> None:
    rows = [row for row in result_rows(shipped_store().trials()) if row.published]
    there = {
        (id(cell.printed), one.row.id) for table in printed_tables(rows) for cell in table.cells for one in cell.matches
    }
    assert len(rows) > 40
    assert [row.name for row in rows if (id(row.published), row.id) not in there] == []
