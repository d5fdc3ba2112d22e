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

from graphtrial.errors import GraphTrialError
from graphtrial.spec import parse_value

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
Workers = Annotated[int | None, typer.Option(min=0, help="Trials at once; all cores by default, 0 for this process.")]
ExecutorText = Annotated[
    str | None,
    typer.Option("--executor", help="Where trials run: processes, ray, or ray:ADDRESS,cpus=1,memory_gb=4."),
]


def friendly(command: F) -> F:
    """Turn errors made for people into one line and a non-zero exit."""

    @functools.wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except GraphTrialError as error:
            err.print(f"graphtrial: {error}", markup=False, soft_wrap=True)
            raise typer.Exit(2) from None

    return wrapped  # type: ignore[return-value]


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


def load_plugins(files: list[Path] | None) -> None:
    """Load the plug-ins that a command was given."""
    if files:
        from graphtrial.plugins import load_plugin

        for file in files:
            load_plugin(file)
