"""The report of the shipped results: small, and no row with departures is the best of a dataset."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from graphtrial.report import write_site
from graphtrial.report.row_page import MOST_PAGES
from graphtrial.results.select import stored_rows
from graphtrial.results.titles import dataset_title
from graphtrial.shipped import shipped_store

pytestmark = pytest.mark.slow

MOST_BYTES, BLOCK = 25_000_000, 4096


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the shipped results."""
    return write_site(shipped_store(), tmp_path_factory.mktemp("shipped") / "site", store_option=" --shipped").parent


def test_site_takes_less_than_25_megabytes(site: Path) -> None:
    sizes = [file.stat().st_size for file in site.rglob("*") if file.is_file()]
    assert len(sizes) > 500
    assert sum(-(-size // BLOCK) * BLOCK for size in sizes) < MOST_BYTES


def test_rows_with_departures_have_a_badge_and_are_never_best(site: Path) -> None:
    rows = stored_rows(shipped_store())
    badged = [row for row in rows if row.departures]
    assert len(badged) > 5
    for row in badged:
        page = (site / "rows" / f"{row.id}.html").read_text(encoding="utf-8")
        assert all(f">{departure.badge}</span>" in page for departure in row.departures)
    overview = (site / "index.html").read_text(encoding="utf-8")
    cards = dict(re.findall(r'<li><h3><a [^>]*title="([^"]+)">.*?</h3>(.*?)</li>', overview, flags=re.DOTALL))
    for name in {row.first.spec.dataset for row in rows}:
        of_it = [row for row in rows if row.first.spec.dataset == name]
        if all(row.departures for row in of_it):
            assert "No score under the unchanged rules and data" in cards[name]
            assert '<p class="best"><b>' not in cards[name]
        assert dataset_title(name) in overview


def test_differing_rows_are_listed_first(site: Path) -> None:
    page = (site / "papers.html").read_text(encoding="utf-8")
    result = re.findall(r'<span class="verdict \w+">([^<]+)</span></td>', page)
    order = ["differs (worse)", "differs (better)", "inconclusive", "reproduced", "not comparable"]
    assert len(result) > 40
    assert [order.index(one) for one in result] == sorted(order.index(one) for one in result)
    assert 'class="scroll tall"' not in page, "the whole table is shown"


def test_long_row_has_pages_for_the_trainings_of_its_chart(site: Path) -> None:
    row = max(stored_rows(shipped_store()), key=lambda row: sum(trial.spec.kind.has_epochs for trial in row.trials))
    page = (site / "rows" / f"{row.id}.html").read_text(encoding="utf-8")
    linked = set(re.findall(r'href="\.\./trials/(\w+)\.html"', page))
    assert len(row.trials) > len(linked) == MOST_PAGES
    assert all((site / "trials" / f"{name}.html").exists() == (name in linked) for name in (t.id for t in row.trials))
    assert all(trial.id in page for trial in row.trials), "a training without its own page is a line of the table"
