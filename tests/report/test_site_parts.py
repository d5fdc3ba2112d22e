"""Parts of the site that need no site: cells, numbers of curves, the trials of a row as JSON."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import pytest
from tests.helpers.filled_store import Filler
from tests.helpers.sites import EVIL

from graphtrial.report.cells import cell_html
from graphtrial.report.charts import MOST_LINES, MOST_POINTS, learning, one_training
from graphtrial.report.grid import Cell, Grid, GridColumn, words
from graphtrial.report.site import element_text
from graphtrial.report.trialdata import row_data
from graphtrial.results import result_rows
from graphtrial.training.outcome import Epoch
from graphtrial.trials import Store, TrialSpec


class Tags(HTMLParser):
    """Gathers tags with their attributes, and the text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("href", [None, EVIL])
@pytest.mark.parametrize("pill", ["", EVIL])
@pytest.mark.parametrize("under", ["", EVIL])
def test_cells_are_escaped(href: str | None, pill: str, under: str) -> None:
    cell = Cell(EVIL, sort=EVIL, href=href, mark=EVIL, hint=EVIL, pill=pill, badges=((EVIL, EVIL),))
    page = Tags(str(cell_html(cell, GridColumn(EVIL, keep=True), under)))
    assert {tag for tag, _ in page.tags} <= {"td", "span", "a", "small"}
    assert {name for _, attributes in page.tags for name in attributes} <= {"class", "data-sort", "title", "href"}
    assert page.text.count(EVIL) == 2 + bool(under)
    assert Tags(str(element_text(EVIL))).text == EVIL
    assert Tags(str(element_text(EVIL))).tags == []


def test_badges_and_second_lines_are_exported() -> None:
    columns = (*words("ModelEntry"), GridColumn("Test"), GridColumn("Interval", under=True))
    rows = [[Cell("gcn", badges=(("other data", "why"),)), Cell("1"), Cell("[0, 2]")]]
    grid = Grid("name", "title", columns, rows)
    assert grid.texts == [["gcn [other data]", "1", "[0, 2]"]]
    assert [column.title for column in grid.beside] == ["ModelEntry", "Test"]
    ((anchor, beside, below),) = grid.lines
    assert anchor == ""
    assert [(cell.text, under) for cell, _, under in beside] == [("gcn", ""), ("1", "[0, 2]")]
    assert below == []


def test_curves_are_thinned_and_keep_nan() -> None:
    history = [Epoch(n, 1e-3, 1.0 / n, float("inf") if n == 500 else 1e19, 50.0 + 1e-7, 0.5) for n in range(1, 501)]
    chart = one_training(history, "accuracy")
    assert chart
    assert len(chart.xs[0]) == MOST_POINTS
    assert (chart.xs[0][0], chart.xs[0][-1]) == (1, 500)
    loss = chart.views[0]["series"]
    assert loss[1]["y"][-1] is None
    assert loss[1]["y"][0] == 1e19
    assert chart.views[1]["series"][0]["y"][0] == 50
    many = learning([(f"row {i}", None, history) for i in range(20)], "accuracy", "t", "")
    assert many
    assert many.data["most"] == MOST_LINES == 8
    assert [series["x"] for series in many.views[2]["series"]] == list(range(20))
    json.dumps(many.data, allow_nan=False)


def test_json_of_a_row_has_all_trials(results: Store, fill: Filler) -> None:
    fill("gcn", [50, 51, 52, 53], splits=2)
    (row,) = result_rows(results.trials())
    result = json.loads(json.dumps(row_data(row.id, row.trials, {t.id: results.history(t.id) for t in row.trials})))
    assert [TrialSpec.from_dict({**result["spec"], **one["spec"]}).id for one in result["trials"]] == [
        trial.id for trial in row.trials
    ]
    assert set(result["trials"][0]["spec"]) == {"split", "seed"}
    assert [result["environments"][one["environment"]] for one in result["trials"]] == [
        t.environment for t in row.trials
    ]
    assert result["trials"][0]["epochs"]["val_score"] == [50, 50]
    assert result["trials"][0]["epochs"]["lr"] == [[1, 0.001]]
    assert [one["scores"] for one in result["trials"]] == [trial.scores for trial in row.trials]
