"""Output, errors and options of all commands."""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from graphtrial.cli.completion import complete_encoding, complete_protocol
from graphtrial.cli.failures import REFUSED, failure, open_closed_streams, say
from graphtrial.core.errors import GraphTrialError, in_one_line
from graphtrial.core.spec import parse_value
from graphtrial.core.terminal import StreamConsole, output_is_closed

WIDTH_OF_PIPES, NARROWEST = 160, 40


def _width() -> int | None:
    """Return the number of columns: COLUMNS if set, otherwise that of the terminal (`None`) or a constant for pipes."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isascii() and columns.isdecimal():
        return max(int(columns), NARROWEST)
    return None if sys.stdout.isatty() else WIDTH_OF_PIPES


open_closed_streams()
out = StreamConsole(width=_width(), highlight=False, markup=False)
err = StreamConsole(stderr=True, highlight=False, markup=False)

F = TypeVar("F", bound=Callable[..., Any])

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
    str,
    typer.Option(
        "--encoding",
        help="Positional encodings, such as laplacian:20 or rwse:20+laplacian:8.",
        autocompletion=complete_encoding,
    ),
]
Workers = Annotated[int | None, typer.Option(min=0, help="Parallel trials; all cores by default, 0 for this process.")]
ExecutorText = Annotated[
    str | None,
    typer.Option("--executor", help="Where trials run: processes, vectorized, ray, or ray:ADDRESS,cpus=1,memory_gb=4."),
]
Device = Annotated[
    str, typer.Option("--device", help="auto (a GPU where there is one), cpu, cuda (all GPUs), cuda:N or mps.")
]
Threads = Annotated[
    int | None, typer.Option(min=1, help="CPU threads of each trial; by default the cores are divided among trials.")
]
PerDevice = Annotated[int, typer.Option("--per-device", min=1, help="Parallel trials on each GPU.")]
Compile = Annotated[bool, typer.Option("--compile", help="Compile whole models by torch.compile.")]
ModelSettings = Annotated[list[str] | None, typer.Option("--set", help="Any setting of the model: key=value.")]
ParameterBudget = Annotated[
    str | None,
    typer.Option(
        "--budget", "--params", help="Parameter budget, such as 100k: the widest model within it. In tune: --params."
    ),
]
ChangedRules = Annotated[list[str] | None, typer.Option("--rule", help="Change a training rule: key=value.")]
MaxEpochs = Annotated[int | None, typer.Option(min=1, help="Maximum number of epochs (changes the rules).")]
ProtocolName = Annotated[
    str | None,
    typer.Option(
        help="Training protocol; that of the paper of the dataset by default.", autocompletion=complete_protocol
    ),
]
EdgeFeatures = Annotated[bool, typer.Option("--edge-features", help="Use the dataset's edge features.")]
Edition = Annotated[str, typer.Option(help="sound, or as-published: with the faults in docs/errata.md.")]
Precision = Annotated[
    str | None,
    typer.Option(help="32, tf32 or bf16: precision of matrix products (changes the rules, and so the trials)."),
]


def friendly(command: F) -> F:
    """Convert every exception of a command to a one-line message and a non-zero exit code."""

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
    if isinstance(error, BrokenPipeError) and output_is_closed():  # the plug-in printed
        return None
    from graphtrial.core.plugins.loader import describe_user_error

    return describe_user_error(error) or (
        None if isinstance(error, Exception) else f"the command was ended by {in_one_line(error)}"
    )


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    print(json.dumps(value, indent=2, ensure_ascii=False))


def parse_settings(pairs: list[str]) -> dict[str, Any]:
    """Parse `key=value` options."""
    values = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise GraphTrialError(f"'{pair}' is not a setting; write key=value, for example dropout=0.1")
        values[key.strip()] = parse_value(value.strip())
    return values


def parse_rules(pairs: list[str], max_epochs: int | None, precision: str | None) -> dict[str, Any]:
    """Parse the options that change training rules."""
    changed = parse_settings(pairs)
    if max_epochs is not None:
        changed["stopping.max_epochs"] = max_epochs
    if precision is not None:
        changed["precision"] = parse_value(precision)
    return changed


def names(text: str) -> list[str]:
    """Split comma-separated names."""
    return [part.strip() for part in text.split(",") if part.strip()]


def load_code(plugins: list[Path] | None, allowed: list[str] | None, *typed: str | None) -> None:
    """Load plug-ins, and allow the code that the command line names: by --allow, or as an argument."""
    from graphtrial.core.plugins.permissions import LOADER, PATH, allow
    from graphtrial.core.registry import NAME

    for name in allowed or []:
        if not any(pattern.fullmatch(name) for pattern in (PATH, NAME, LOADER)):
            raise GraphTrialError(
                "--allow takes package.module:attribute, the name of an entry point or a dataset of a library such as "
                f"pyg:Planetoid/Cora, not '{name}'"
            )
    allow(*(allowed or []), *(name for name in typed if name))
    if plugins:
        from graphtrial.core.plugins.loader import load_plugin

        for file in plugins:
            load_plugin(file)
