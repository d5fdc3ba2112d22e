"""Tables of pages: cells with text, sort key, link, style and badges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    """One cell. `sort` is the sort key where it is not the text, `mark` a style such as best, `hint` the tooltip.

    `badges` are words beside the text, each with its tooltip. `anchor` is the id of the line, which the cell links to.
    """

    text: str
    sort: float | str | None = None
    href: str | None = None
    mark: str = ""
    hint: str = ""
    pill: str = ""
    badges: tuple[tuple[str, str], ...] = ()
    anchor: str = ""

    @property
    def full_text(self) -> str:
        """The text followed by its badges, for plain-text formats."""
        return f"{self.text} [{', '.join(name for name, _ in self.badges)}]" if self.badges else self.text


@dataclass(frozen=True)
class GridColumn:
    """One column of a page's table; numbers are aligned to the right.

    `below`: long texts on a line of their own under the row. `under`: small texts on a second line in the cell before.
    `keep`: sticky when a wide table is scrolled, as the first column is.
    """

    title: str
    number: bool = True
    hint: str = ""
    below: bool = False
    under: bool = False
    keep: bool = False


@dataclass(frozen=True)
class Grid:
    """A table with the name of its files and its caption; `whole`: without a limit of its height."""

    name: str
    title: str
    columns: tuple[GridColumn, ...]
    rows: list[list[Cell]]
    caption: str = ""
    formats: tuple[str, ...] = ("md", "tex", "csv", "json")
    whole: bool = False

    @property
    def headers(self) -> list[str]:
        """The titles of the columns."""
        return [column.title for column in self.columns]

    @property
    def beside(self) -> list[GridColumn]:
        """Columns in cells of their own."""
        return [column for column in self.columns if not column.below and not column.under]

    @property
    def lines(self) -> list[tuple[str, list[tuple[Cell, GridColumn, str]], list[Cell]]]:
        """Rows of a page: id, cells with their second lines, and the cells below them."""
        lines = []
        for row in self.rows:
            beside: list[tuple[Cell, GridColumn, str]] = []
            for cell, column in zip(row, self.columns, strict=True):
                if column.under and cell.text:
                    beside[-1] = (*beside[-1][:2], cell.text)
                elif not column.below and not column.under:
                    beside.append((cell, column, ""))
            below = [cell for cell, column in zip(row, self.columns, strict=True) if column.below]
            lines.append((next((cell.anchor for cell in row if cell.anchor), ""), beside, below))
        return lines

    @property
    def texts(self) -> list[list[str]]:
        """The texts of all cells, badges included."""
        return [[cell.full_text for cell in row] for row in self.rows]


def words(*titles: str) -> tuple[GridColumn, ...]:
    """Return left-aligned columns."""
    return tuple(GridColumn(title, number=False) for title in titles)


def numbers(*titles: str) -> tuple[GridColumn, ...]:
    """Return right-aligned columns."""
    return tuple(GridColumn(title) for title in titles)


def number(value: float | None, form: str = ".3f", mark: str = "") -> Cell:
    """Return a number as a cell, empty where it is missing."""
    return Cell("", mark=mark) if value is None else Cell(f"{value:{form}}", sort=value, mark=mark)


def best_two(values: Sequence[float | None], higher_is_better: bool) -> list[str]:
    """Return a mark for each value: best, second or none; ties share theirs."""
    order = sorted({value for value in values if value is not None}, reverse=higher_is_better)
    marks = dict(zip(order, ("best", "second"), strict=False)) if len(order) > 1 else {}
    return ["" if value is None else marks.get(value, "") for value in values]
