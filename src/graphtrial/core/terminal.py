"""Standard streams that the reader may close, and tables for the terminal that never shorten a number."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from rich.box import HEAVY_HEAD, Box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, JustifyMethod, RenderableType
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

LONG_WORD, NARROWEST_TEXT = 16, 8
"""Words are broken down to the first width before a column is hidden, to the second once none can be hidden."""


class StreamConsole(Console):
    """Console that raises `BrokenPipeError` where rich raises `SystemExit(1)`, which tells nothing about the cause."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def output_is_closed() -> bool:
    """Return whether the reader of stdout or stderr has gone, as after `| head`.

    Another `BrokenPipeError`, such as that of a socket or a worker, is an error to report.
    """
    poll = select.poll()
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # no stream, or one without a file
            poll.register(stream.fileno(), 0)  # errors and hang-ups are always reported
    return bool(poll.poll(0))


def discard_output() -> None:
    """Redirect stdout to the null device, so that the interpreter does not flush it again at exit."""
    with suppress(AttributeError, OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())


@dataclass(frozen=True)
class TableColumn:
    """Column of a `TerminalTable`.

    Args:
        heading: Column heading.
        numeric: Aligned to the right and rigid.
        rigid: Never folded, so that it can be copied; other texts fold at spaces, and long words anywhere.
        priority: A narrow terminal hides the column of the highest priority first; 0 is never hidden.
        style: Style of the cells.
    """

    heading: str
    numeric: bool = False
    rigid: bool = False
    priority: int = 0
    style: str = ""


class TerminalTable:
    """Table that adapts to the width of the terminal.

    Texts fold first. If that is not enough, columns are hidden in the order of their priority, and a line
    below the table names them. If the remaining columns do not fit either, the table is split into several, each of
    which repeats the first column.
    """

    def __init__(
        self,
        *columns: TableColumn,
        title: str | None = None,
        caption: str | None = None,
        show_header: bool = True,
        box: Box = HEAVY_HEAD,
    ) -> None:
        self.columns = columns
        self.title = title
        self.caption = caption
        self._show_header = show_header
        self._box = box
        self._rows: list[tuple[list[RenderableType], str]] = []

    @property
    def row_count(self) -> int:
        """Number of rows."""
        return len(self._rows)

    def add_row(self, *cells: RenderableType, style: str = "") -> None:
        """Append a row; strings are plain text without markup."""
        if len(cells) != len(self.columns):
            raise ValueError(f"{len(cells)} cells for {len(self.columns)} columns")
        self._rows.append(([Text(cell) if isinstance(cell, str) else cell for cell in cells], style))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        if self.title is not None:
            yield Text(self.title, style="italic")
        widths = [self._column_widths(index, console, options) for index in range(len(self.columns))]
        shown, hidden = self._hide(widths, options.max_width)
        for block in _blocks([(index, widths[index]) for index in shown], options.max_width):
            yield self._table(block)
        if hidden:
            names = ", ".join(self.columns[index].heading for index in hidden)
            yield Text(f"Hidden at {options.max_width} columns: {names}. A wider terminal or --json shows them.")
        if self.caption is not None:
            yield Text(self.caption, style="dim italic")

    def _column_widths(self, index: int, console: Console, options: ConsoleOptions) -> _Widths:
        column = self.columns[index]
        measures = [_measure(cells[index], console, options) for cells, _ in self._rows]
        heading = _measure(Text(column.heading), console, options) if self._show_header else Measurement(0, 0)
        preferred = max((measure.maximum for measure in [heading, *measures]), default=1)
        if column.numeric or column.rigid:
            least = max([heading.minimum, *(measure.maximum for measure in measures)])
            return _Widths(least, least, preferred)
        words = max((measure.minimum for measure in measures), default=1)
        broken, folded = (max(heading.minimum, min(words, width)) for width in (NARROWEST_TEXT, LONG_WORD))
        return _Widths(broken, folded, preferred)

    def _hide(self, widths: Sequence[_Widths], available: int) -> tuple[list[int], list[int]]:
        """Return the indices of the columns that are shown and of those that are hidden."""
        shown = list(range(len(self.columns)))
        while _total([widths[index].folded for index in shown]) > available:
            candidates = [index for index in shown if self.columns[index].priority]
            if not candidates:
                break
            shown.remove(max(candidates, key=lambda index: (self.columns[index].priority, index)))
        return shown, [index for index in range(len(self.columns)) if index not in shown]

    def _table(self, block: Sequence[tuple[int, int]]) -> Table:
        table = Table(box=self._box, show_header=self._show_header)
        for index, width in block:
            column = self.columns[index]
            justify: JustifyMethod = "right" if column.numeric else "left"
            table.add_column(Text(column.heading), width=width, justify=justify, overflow="fold", style=column.style)
        for cells, style in self._rows:
            table.add_row(*(cells[index] for index, _ in block), style=style)
        return table


@dataclass(frozen=True)
class _Widths:
    """Widths of a column: broken inside words, folded at spaces, not folded."""

    broken: int
    folded: int
    preferred: int


@dataclass(frozen=True)
class _Sized:
    """Index of a column, the width it has at least, and the width at which nothing is folded."""

    index: int
    least: int
    preferred: int


def _measure(cell: RenderableType, console: Console, options: ConsoleOptions) -> Measurement:
    if isinstance(cell, Text):
        lines = cell.plain.splitlines()
        words = (cell_len(word) for line in lines for word in line.split())
        return Measurement(max(words, default=0), max(map(cell_len, lines), default=0))
    return Measurement.get(console, options, cell)


def _total(widths: Sequence[int]) -> int:
    """Return the width of a table: columns, a blank on either side of each, and the lines between them."""
    return sum(widths) + 3 * len(widths) + 1


def _blocks(columns: Sequence[tuple[int, _Widths]], available: int) -> Iterator[list[tuple[int, int]]]:
    """Yield the columns of each table, with their widths; the first column is repeated in every one."""
    fits = _total([widths.folded for _, widths in columns]) <= available
    key, *others = [_Sized(index, w.folded if fits else w.broken, w.preferred) for index, w in columns]
    block = [key]
    for column in others:
        if len(block) > 1 and _total([one.least for one in [*block, column]]) > available:
            yield _stretch(block, available)
            block = [key]
        block.append(column)
    yield _stretch(block, available)


def _stretch(block: Sequence[_Sized], available: int) -> list[tuple[int, int]]:
    """Return index and width of each column; spare space goes to the narrowest column that is folded."""
    widths = [column.least for column in block]
    for _ in range(available - _total(widths)):
        folded = [position for position, column in enumerate(block) if widths[position] < column.preferred]
        if not folded:
            break
        widths[min(folded, key=widths.__getitem__)] += 1
    return [(column.index, width) for column, width in zip(block, widths, strict=True)]
