"""What all commands share: output, errors, options."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from rich.console import Console

from graphtrial.cli.failures import REFUSED, failure, open_closed_streams, say
from graphtrial.core.errors import GraphTrialError, in_one_line
from graphtrial.core.spec import parse_value

open_closed_streams()
# A pipe has no width of its own; tables are then as wide as they need to be.
out = Console(width=None if sys.stdout.isatty() else 160, highlight=False, markup=False)
err = Console(stderr=True, highlight=False, markup=False)

F = TypeVar("F", bound=Callable[..., Any])

Json = Annotated[bool, typer.Option("--json", help="Print JSON for scripts instead of text.")]
StorePath = Annotated[
    Path, typer.Option("--store", help="The file that remembers every trial.", envvar="GRAPHTRIAL_STORE")
]
Plugins = Annotated[
    list[Path] | None,
    typer.Option("--plugin", help="A Python file of yours that registers models, encodings or the like; executed."),
]
Allowed = Annotated[
    list[str] | None,
    typer.Option(
        "--allow",
        metavar="MODULE:ATTRIBUTE",
        help="Code outside graphtrial that a store or study names and that you trust, or the name of an entry point.",
    ),
]
Workers = Annotated[int | None, typer.Option(min=0, help="Trials at once; all cores by default, 0 for this process.")]
ExecutorText = Annotated[
    str | None,
    typer.Option("--executor", help="Where trials run: processes, vectorized, ray, or ray:ADDRESS,cpus=1,memory_gb=4."),
]


def friendly(command: F) -> F:
    """Turn whatever ends a command into one line and a non-zero exit."""

    @functools.wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except (typer.Exit, typer.Abort, typer.BadParameter):
            raise
        except BaseException as error:  # noqa: BLE001 - whatever it is, it ends in one line
            blame = _blame(error)
            words, code = (blame, REFUSED) if blame else failure(error)
            say(words)
            raise typer.Exit(code) from None

    return wrapped  # type: ignore[return-value]


def _blame(error: BaseException) -> str | None:
    """Return what the user's own code did wrong, where it did: it may raise anything, or try to end this process."""
    if isinstance(error, GraphTrialError | KeyboardInterrupt):
        return None
    from graphtrial.core.plugins import describe_user_error

    return describe_user_error(error) or (
        None if isinstance(error, Exception) else f"it was ended by {in_one_line(error)}"
    )


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    print(json.dumps(value, indent=2, ensure_ascii=False))


def parse_settings(pairs: list[str]) -> dict[str, Any]:
    """Read `key=value` options."""
    values = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise GraphTrialError(f"'{pair}' is not a setting; write key=value, for example dropout=0.1")
        values[key.strip()] = parse_value(value.strip())
    return values


def names(text: str) -> list[str]:
    """Read names that commas separate."""
    return [part.strip() for part in text.split(",") if part.strip()]


def load_code(plugins: list[Path] | None, allowed: list[str] | None, *typed: str | None) -> None:
    """Load the plug-ins and allow the names that the user gave to a command: by --allow, or typed as a name."""
    from graphtrial.core.permissions import PATH, allow
    from graphtrial.core.registry import NAME

    for name in allowed or []:
        if not PATH.fullmatch(name) and not NAME.fullmatch(name):
            raise GraphTrialError(f"--allow takes package.module:attribute or the name of an entry point, not '{name}'")
    allow(*(allowed or []), *(name for name in typed if name))
    if plugins:
        from graphtrial.core.plugins import load_plugin

        for file in plugins:
            load_plugin(file)
