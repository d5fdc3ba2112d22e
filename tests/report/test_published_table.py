"""Tables of published results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.helpers.filled_store import Filler

from graphtrial.published import published_results
from graphtrial.report.charts import forest
from graphtrial.report.published_table import published_grid, where_cell
from graphtrial.report.row_page import RowPage
from graphtrial.report.site import Site
from graphtrial.results import result_rows
from graphtrial.results.verdict import verdicts
from graphtrial.trials import Store

SITE: Any = SimpleNamespace(compared={})


def test_classic_and_modern_results_stand_side_by_side_the_best_first() -> None:
    rows = [row for row in published_results() if "zinc" in row.datasets]
    grid = published_grid(SITE, "zinc-published", "Published results on ZINC", rows, "../", without=("dataset",))
    assert grid is not None
    assert grid.headers[:2] == ["Model", "Variant"]
    assert "Metric" not in grid.headers  # the same in every row
    assert "Ours" not in grid.headers  # nothing is compared here
    scores = [float(str(line[grid.headers.index("Published")].sort)) for line in grid.rows]
    assert scores == sorted(scores)
    assert len(scores) == sum(row.test is not None for row in rows)
    places = {line[grid.headers.index("Where")].text.partition(",")[0] for line in grid.rows}
    assert {"bgnn-v5", "bgnn-v1", "hdse", "gnnplus", "papers-with-code"} <= places
    for line in grid.rows:
        origin, source = (line[grid.headers.index(title)].text for title in ("Origin", "Read in"))
        assert origin == "own" or source


def test_errata_stand_beside_their_rows() -> None:
    grid = published_grid(SITE, "dgn", "DGN", [row for row in published_results() if row.label == "DGN"], "")
    assert grid is not None
    erratum = grid.headers.index("Erratum")
    faulty = {line[0].text for line in grid.rows if "softmax over the nodes" in line[erratum].text}
    assert faulty == {"PATTERN"}


@pytest.mark.parametrize("changes", [{}, {"origin": "quoted"}, {"incomparable": "of another split"}], ids=str)
def test_only_compared_rows_stand_beside_a_published_score(
    results: Store, fill: Filler, tmp_path: Path, changes: dict[str, Any]
) -> None:
    fill("gcn", [70.0, 71.0])
    (row,) = result_rows(results.trials())
    assert row.published is not None
    row = replace(row, published=replace(row.published, **changes))
    (verdict,) = verdicts([row])
    assert verdict.is_comparison == (not changes)
    view = RowPage(replace(row, verdict=verdict))
    site = Site(results, [view], results.trials(), tmp_path, None, "")
    assert list(site.compared.values()) == ([] if changes else [[view]])
    chart = forest([view], "accuracy", "higher is better", "")
    assert chart is not None
    assert (chart.views[0]["items"][0]["published"] is None) == bool(changes)


def test_a_table_without_scores_is_none() -> None:
    assert published_grid(SITE, "x", "x", [], "") is None


def test_places_lead_to_the_page_of_the_table_or_of_the_paper() -> None:
    classic = next(row for row in published_results("bgnn-v5", 3))
    modern = next(row for row in published_results("exphormer") if row.table == "Table 1")
    assert (where_cell(classic).text, where_cell(classic).href) == ("bgnn-v5, table 3", "papers/bgnn-v5-table-3.html")
    assert (where_cell(modern, "../").text, where_cell(modern, "../").href) == (
        "exphormer, Table 1",
        "../papers/exphormer.html",
    )
