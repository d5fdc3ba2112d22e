"""Output, errors and options of all commands."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from rich.console import Console
from rich.table import Table

from graphtrial.cli.failures import REFUSED, failure, open_closed_streams, say
from graphtrial.core.errors import GraphTrialError, in_one_line
from graphtrial.core.spec import parse_value

if TYPE_CHECKING:
    from graphtrial.results.columns import ColumnTable

open_closed_streams()
# A pipe has no width: 160 columns.
out = Console(width=None if sys.stdout.isatty() else 160, highlight=False, markup=False)
err = Console(stderr=True, highlight=False, markup=False)

F = TypeVar("F", bound=Callable[..., Any])
Record = TypeVar("Record")

Json = Annotated[bool, typer.Option("--json", help="Print JSON for scripts instead of text.")]
StorePath = Annotated[
    Path, typer.Option("--store", help="SQLite file with all trials and results.", envvar="GRAPHTRIAL_STORE")
]
Plugins = Annotated[
    list[Path] | None,
    typer.Option("--plugin", help="Python file that registers models, encodings, ...; it is executed."),
]
Allowed = Annotated[
    list[str] | None,
    typer.Option(
        "--allow",
        metavar="MODULE:ATTRIBUTE",
        help="Code outside graphtrial that a store or study names and that you trust, or the name of an entry point.",
    ),
]
EncodingText = Annotated[
    str, typer.Option("--encoding", help="Positional encodings, such as laplacian:20 or rwse:20+laplacian:8.")
]
Workers = Annotated[int | None, typer.Option(min=0, help="Trials at once; all cores by default, 0 for this process.")]
ExecutorText = Annotated[
    str | None,
    typer.Option("--executor", help="Where trials run: processes, vectorized, ray, or ray:ADDRESS,cpus=1,memory_gb=4."),
]


def friendly(command: F) -> F:
    """Turn every exception of a command into a one-line message and a non-zero exit code."""

    @functools.wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except (typer.Exit, typer.Abort, typer.BadParameter):
            raise
        except BaseException as error:  # noqa: BLE001 - every exception ends in one line
            user_error = _user_error(error)
            message, code = (user_error, REFUSED) if user_error else failure(error)
            say(message)
            raise typer.Exit(code) from None

    return wrapped  # type: ignore[return-value]


def _user_error(error: BaseException) -> str | None:
    """Return the message of an exception, `sys.exit` included, that comes from a plug-in; `None` for any other."""
    if isinstance(error, GraphTrialError | KeyboardInterrupt):
        return None
    from graphtrial.core.plugins.loader import describe_user_error

    return describe_user_error(error) or (
        None if isinstance(error, Exception) else f"the command was ended by {in_one_line(error)}"
    )


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    print(json.dumps(value, indent=2, ensure_ascii=False))


def column_table(columns: ColumnTable[Record], records: Iterable[Record], title: str | None = None) -> Table:
    """Return records as a table with the columns of the terminal."""
    columns_shown = columns.shown("terminal")
    table = Table(title=title, title_justify="left")
    for column in columns_shown:
        table.add_column(column.heading, justify=column.align)
    for record in records:
        table.add_row(*(column.cell(record) for column in columns_shown))
    return table


def parse_settings(pairs: list[str]) -> dict[str, Any]:
    """Parse `key=value` options."""
    values = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise GraphTrialError(f"'{pair}' is not a setting; write key=value, for example dropout=0.1")
        values[key.strip()] = parse_value(value.strip())
    return values


def names(text: str) -> list[str]:
    """Split comma-separated names."""
    return [part.strip() for part in text.split(",") if part.strip()]


def load_code(plugins: list[Path] | None, allowed: list[str] | None, *typed: str | None) -> None:
    """Load plug-ins, and allow the code that the command line names: by --allow, or as an argument."""
    from graphtrial.core.plugins.permissions import PATH, allow
    from graphtrial.core.registry import NAME

    for name in allowed or []:
        if not PATH.fullmatch(name) and not NAME.fullmatch(name):
            raise GraphTrialError(f"--allow takes package.module:attribute or the name of an entry point, not '{name}'")
    allow(*(allowed or []), *(name for name in typed if name))
    if plugins:
        from graphtrial.core.plugins.loader import load_plugin

        for file in plugins:
            load_plugin(file)
