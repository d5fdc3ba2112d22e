"""The papers' tables in their own layout: every printed row in one place, ours in theirs, commands for the rest."""

from __future__ import annotations

import shlex
from collections import Counter
from functools import cache

import pytest
from tests.helpers.filled_store import Filler

from graphtrial.core.spec import Component, parse_value
from graphtrial.nn import MODELS
from graphtrial.published import PAPERS, published_results
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


def the(table: PrintedTable, **wanted: object) -> list[object]:
    return [
        place for place in table.places if all(getattr(place.printed, key) == value for key, value in wanted.items())
    ]


def test_every_printed_row_of_every_paper_has_one_place() -> None:
    assert set(PAPERS) == {row.paper for row in published_results()}
    assert [(table.paper, table.number) for table in empty().values()] == list(LAYOUTS)
    seen = Counter(id(place.printed) for table in empty().values() for place in table.places)
    assert set(seen.values()) == {1}
    assert sum(seen.values()) == len(published_results())


@pytest.mark.parametrize("name", [f"{paper}/table-{number}" for paper, number in LAYOUTS])
def test_a_missing_place_has_a_command_that_can_be_typed_or_a_reason(name: str) -> None:
    table = empty()[name]
    assert name in catalog()
    for place in table.places:
        assert not place.ours
        if place.printed.status == "not-used":
            continue
        assert place.is_missing
        assert place.command or place.reason, place.printed
        if not place.command:
            continue
        program, verb, first, *words = shlex.split(place.command)
        assert (program, verb) in (("graphtrial", "run"), ("graphtrial", "study"))
        options = dict(zip(words[verb == "run" :: 2], words[(verb == "run") + 1 :: 2], strict=True))
        if verb == "run":
            assert words[0] in MODELS
            assert options["--protocol"] in PROTOCOLS
            assert options["--protocol"].partition("/")[0] == table.paper
            width = [parse_value(value) for key, value in _settings(words[1:]) if key == "layers"]
            assert not width or place.printed.layers in (None, *width)
        else:
            assert first == name
            assert set(options) == {"--datasets", "--models"}


def _settings(words: list[str]) -> list[tuple[str, str]]:
    pairs = [value for option, value in zip(words[::2], words[1::2], strict=True) if option == "--set"]
    return [(key, value) for key, _, value in (pair.partition("=") for pair in pairs)]


def test_lines_and_groups_are_those_of_the_paper() -> None:
    zinc = empty()["bgnn-v5/table-3"]
    assert zinc.layout.groups == [""]
    assert [(line.label, *line.before) for line in zinc.lines][:3] == [
        ("MLP", "4", "108975"),
        ("vanilla GCN", "4", "103077"),
        ("vanilla GCN", "16", "505079"),
    ]
    pixels = empty()["bgnn-v5/table-7"]
    assert pixels.layout.groups == ["MNIST", "CIFAR10"]
    assert all(None not in line.places for line in pixels.lines)
    rings = [line for line in pixels.lines if line.label == "RingGNN" and line.before == ("2",)]
    assert [[place.printed.params for place in line.places if place] for line in rings] == [
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


def test_rows_of_ours_stand_in_their_places_and_in_no_others(results: Store, fill: Filler) -> None:
    laplacian = Component("laplacian", {"k": 20, "sign": "absolute"})
    fill("gcn", [99.0, 100.0, 98.0], encoding=laplacian, params=103847)
    fill("gcn", [10.0, 10.0, 10.0])
    tables = {table.study: table for table in printed_tables(result_rows(results.trials()))}
    filled = [(table.study, place) for table in tables.values() for place in table.places if place.ours]
    assert {name for name, _ in filled} == {"bgnn-v5/table-10"}
    by_label = {place.printed.label: place for _, place in filled}
    assert set(by_label) == {"GCN", "All MP-GCNs"}
    (ours,) = by_label["GCN"].ours
    assert ours.score
    assert ours.score.mean == pytest.approx(99.0)
    assert [one.row.label for one in by_label["All MP-GCNs"].ours] == ["gcn"]


def test_two_repetitions_of_a_table_are_the_first_two_seeds_of_the_protocol(results: Store, fill: Filler) -> None:
    made = next(place for place in empty()["bgnn-v5/table-16"].places if place.printed.label == "GIN" and place.command)
    words = shlex.split(made.command)
    settings = {key: parse_value(value) for key, value in _settings(words[4:])}
    seeds = PROTOCOLS.get("bgnn-v5/enzymes").seeds
    specs = fill("gin", [50.0, 60.0], dataset="enzymes", protocol="bgnn-v5/enzymes@1", arguments=settings)
    assert [spec.seed for spec in specs] == [0, 1]  # which are not those of the protocol
    tables = {table.study: table for table in printed_tables(result_rows(results.trials()))}
    scores = [one.score for place in tables["bgnn-v5/table-16"].places for one in place.ours]
    assert scores == [None, None] or not {0, 1} & set(seeds)


def test_the_shipped_rows_stand_in_the_tables_that_their_verdicts_name() -> None:
    rows = [row for row in result_rows(shipped_store().trials()) if row.published]
    there = {
        (id(place.printed), one.row.id)
        for table in printed_tables(rows)
        for place in table.places
        for one in place.ours
    }
    assert len(rows) > 40
    assert [row.name for row in rows if (id(row.published), row.id) not in there] == []
