"""A table as pages show it: cells with a text, something to sort by, a link and a mark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    """One cell. `sort` stands in for the text where the order is another, `mark` is a style such as best or wide.

    `badges` are words with their explanation that stand beside the text.
    """

    text: str
    sort: float | str | None = None
    href: str | None = None
    mark: str = ""
    hint: str = ""
    pill: str = ""
    badges: tuple[tuple[str, str], ...] = ()

    @property
    def full_text(self) -> str:
        """The text with its badges, for formats that have no other place for them."""
        return f"{self.text} [{', '.join(name for name, _ in self.badges)}]" if self.badges else self.text


@dataclass(frozen=True)
class Column:
    """One column; numbers stand to the right.

    The texts of one `below` are long: they get a line under their row. Those of one `under` are small: they get a
    second line in the column before. One to `keep` stays in sight when a wide table is scrolled, as the first does.
    """

    title: str
    number: bool = True
    hint: str = ""
    below: bool = False
    under: bool = False
    keep: bool = False


@dataclass(frozen=True)
class Grid:
    """A table with a name for its files, and what has to be said below it; a `whole` one is never cut in height."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: list[list[Cell]]
    caption: str = ""
    formats: tuple[str, ...] = ("md", "tex", "csv", "json")
    whole: bool = False

    @property
    def headers(self) -> list[str]:
        """The titles of the columns."""
        return [column.title for column in self.columns]

    @property
    def beside(self) -> list[Column]:
        """The columns that a page shows side by side."""
        return [column for column in self.columns if not column.below and not column.under]

    @property
    def lines(self) -> list[tuple[list[tuple[Cell, Column, str]], list[Cell]]]:
        """Each row as a page shows it: the cells side by side, each with its second line, and those below them."""
        made = []
        for row in self.rows:
            beside: list[tuple[Cell, Column, str]] = []
            for cell, column in zip(row, self.columns, strict=True):
                if column.under and cell.text:
                    beside[-1] = (*beside[-1][:2], cell.text)
                elif not column.below and not column.under:
                    beside.append((cell, column, ""))
            made.append((beside, [cell for cell, column in zip(row, self.columns, strict=True) if column.below]))
        return made

    @property
    def texts(self) -> list[list[str]]:
        """The texts of all cells, badges included."""
        return [[cell.full_text for cell in row] for row in self.rows]


def words(*titles: str) -> tuple[Column, ...]:
    """Return columns of words."""
    return tuple(Column(title, number=False) for title in titles)


def numbers(*titles: str) -> tuple[Column, ...]:
    """Return columns of numbers."""
    return tuple(Column(title) for title in titles)


def number(value: float | None, form: str = ".3f", mark: str = "") -> Cell:
    """Return a number as a cell; nothing is an empty one."""
    return Cell("", mark=mark) if value is None else Cell(f"{value:{form}}", sort=value, mark=mark)


def best_two(values: Sequence[float | None], higher_is_better: bool) -> list[str]:
    """Return a mark for each value: best, second or none; equal values share theirs."""
    there = sorted({value for value in values if value is not None}, reverse=higher_is_better)
    marks = dict(zip(there, ("best", "second"), strict=False)) if len(there) > 1 else {}
    return ["" if value is None else marks.get(value, "") for value in values]
