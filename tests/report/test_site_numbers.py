"""Data of the charts and tables of the site."""

from __future__ import annotations

import pytest

from graphtrial.report.charts import curve, digits, sampled
from graphtrial.report.exports import export
from graphtrial.report.grid import Cell, Grid, best_two, numbers, words
from graphtrial.results.columns.formats import duration
from graphtrial.training.outcome import Epoch


def test_curves_are_subsampled_with_both_ends() -> None:
    epochs = [Epoch(n, 0.1, 1.0 / n, 0.0, 0.0, 0.0) for n in range(1, 1001)]
    chosen = sampled(epochs, 50)
    assert len(chosen) == 50
    assert (chosen[0].epoch, chosen[-1].epoch) == (1, 1000)
    assert sampled(epochs[:3], 50) == epochs[:3]
    assert curve(epochs[:3], lambda epoch: epoch.train_loss) == [1, 0.5, 0.3333]
    assert digits(123456789) == 123456789


@pytest.mark.parametrize(
    ("values", "higher", "marks"),
    [
        ([1.0, 3.0, 2.0], True, ["", "best", "second"]),
        ([1.0, 3.0, 2.0], False, ["best", "", "second"]),
        ([2.0, None, 2.0, 1.0], True, ["best", "", "best", "second"]),
        ([2.0], True, [""]),
        ([], True, []),
    ],
)
def test_best_and_the_second_best_are_marked(values: list[float | None], higher: bool, marks: list[str]) -> None:
    assert best_two(values, higher) == marks


def test_csv_quotes_formulas_and_keeps_numbers() -> None:
    rows = [[Cell("=cmd()"), Cell("-0.5", sort=-0.5)], [Cell("+evil"), Cell("")], [Cell("@x"), Cell("+1.5", sort=1.5)]]
    grid = Grid("t", "T & co", (*words("a"), *numbers("b")), rows, "caption")
    assert export(grid, "csv") == "a,b\n'=cmd(),-0.5\n'+evil,\n'@x,+1.5\n"
    assert '"b": -0.5' in export(grid, "json")
    assert '"b": null' in export(grid, "json")


def test_latex_and_markdown_escape_markup() -> None:
    grid = Grid("t", "100 % of $x_1$", words("a_b", "c|d"), [[Cell(r"\input{x}", mark="best"), Cell("<b>|")]])
    latex = export(grid, "tex")
    assert r"\textbf{\textbackslash{}input\{x\}} & \textless{}b\textgreater{}\textbar{} \\" in latex
    assert r"a\_b & c\textbar{}d \\" in latex
    assert r"| \\input{x} | &lt;b>\| |" in export(grid, "md")


def test_durations_use_a_suitable_unit() -> None:
    assert [duration(h) for h in (2.0, 0.5, 0.001)] == ["2.0 h", "30.0 min", "3.6 s"]
