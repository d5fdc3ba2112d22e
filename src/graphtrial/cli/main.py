"""The `graphtrial` command and its subcommands."""

from __future__ import annotations

import logging
import sys
from copy import copy
from pathlib import Path
from typing import Annotated

import typer

from graphtrial.cli import health, kernel, listing, params, run, tune
from graphtrial.cli import wikipedia as wikics
from graphtrial.cli.common import err, friendly, out, print_json
from graphtrial.cli.data import prepare as data
from graphtrial.cli.failures import REFUSED, print_any_text, run_and_flush, say
from graphtrial.cli.results import compare, report, reproduce, see, stores, watch

app = typer.Typer(
    name="graphtrial",
    help="A fair trial for every graph learning model. Start: graphtrial run csl gcn --encoding laplacian:20 --seeds 1",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(data.app, name="data")
app.add_typer(wikics.app, name="wikics")
app.add_typer(stores.app, name="store")
app.command("run")(run.run)
app.command("kernel")(kernel.kernel)
app.command("study")(run.study)
app.command("tune")(tune.tune)
app.command("list")(listing.list_things)
app.command("params")(params.params)
app.command("status")(see.status)
app.command("show")(see.show)
app.command("report")(report.report)
app.command("reproduce")(reproduce.reproduce)
app.command("watch")(watch.watch)
app.command("compare")(compare.compare)
app.command("ranks")(compare.ranks)
app.command("export")(compare.export)
app.command("doctor")(health.doctor)
app.command("validate")(health.validate)


class _LogLines(logging.Handler):
    """Print each record as one line, above a progress bar, without a time and folded by the terminal alone."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            err.print(f"graphtrial: {record.levelname.lower()}: {self.format(record)}", soft_wrap=True)
        except Exception:  # noqa: BLE001 - logging reports it, and ignores a closed stream
            self.handleError(record)


@friendly
def _print_version(as_json: bool) -> None:
    if as_json:
        from graphtrial.doctor.versions import versions

        print_json(versions())
    else:
        from graphtrial import __version__

        out.print(f"graphtrial {__version__}")


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    json: Annotated[
        bool, typer.Option("--json", help="With --version: all versions, device and kernels, for bug reports.")
    ] = False,
) -> None:
    """A fair trial for every graph learning model."""
    if version:
        _print_version(json)
        raise typer.Exit()
    if json:
        context.fail("--json stands after the command, or beside --version")
    if context.invoked_subcommand is None:
        context.fail("Missing command.")
    print_any_text()
    try:
        Path.cwd()
    except OSError:
        say("the current folder was deleted: change to another one")
        raise typer.Exit(REFUSED) from None
    logging.basicConfig(level=logging.WARNING, handlers=[_LogLines()])


def main() -> None:
    """Run the command line."""
    sys.exit(run_and_flush(_with_one_command(sys.argv[1:])))


def _with_one_command(words: list[str]) -> typer.Typer:
    """Return the application with the called command alone: declaring the parameters of all takes a tenth of a second.

    Shell completion, help and mistyped names get all commands.
    """
    part = copy(app)
    part.registered_commands = [command for command in app.registered_commands if [command.name] == words[:1]]
    part.registered_groups = [group for group in app.registered_groups if [group.name] == words[:1]]
    return part if part.registered_commands or part.registered_groups else app
