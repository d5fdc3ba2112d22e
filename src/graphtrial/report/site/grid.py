"""A table as pages show it: cells with a text, something to sort by, a link and a mark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    """One cell. `sort` stands in for the text where the order is another, `mark` is a style such as best or wide."""

    text: str
    sort: float | str | None = None
    href: str | None = None
    mark: str = ""
    hint: str = ""
    pill: str = ""


@dataclass(frozen=True)
class Column:
    """One column; numbers stand to the right. The texts of one `below` are long: they get a line under their row."""

    title: str
    number: bool = True
    hint: str = ""
    below: bool = False


@dataclass(frozen=True)
class Grid:
    """A table with a name for its files, and what has to be said below it."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: list[list[Cell]]
    caption: str = ""

    @property
    def headers(self) -> list[str]:
        """The titles of the columns."""
        return [column.title for column in self.columns]

    @property
    def lines(self) -> list[tuple[list[tuple[Cell, Column]], list[Cell]]]:
        """Each row as a page shows it: the cells that stand side by side, and those below them."""
        made = []
        for row in self.rows:
            pairs = list(zip(row, self.columns, strict=True))
            made.append(([pair for pair in pairs if not pair[1].below], [cell for cell, to in pairs if to.below]))
        return made

    @property
    def texts(self) -> list[list[str]]:
        """The texts of all cells."""
        return [[cell.text for cell in row] for row in self.rows]


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
