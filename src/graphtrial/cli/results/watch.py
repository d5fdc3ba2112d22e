"""`graphtrial watch`: running trials, live in the terminal."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.text import Text

from graphtrial.cli.common import Allowed, Json, Plugins, StorePath, friendly, load_code, out, print_json
from graphtrial.cli.completion import complete_study
from graphtrial.cli.results.see import open_store
from graphtrial.core.files import DEFAULT_STORE
from graphtrial.core.terminal import TableColumn, TerminalTable

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphtrial.results.live import Snapshot
    from graphtrial.results.study_progress import StudyProgress
    from graphtrial.trials import Store


@friendly
def watch(
    study: Annotated[
        str | None,
        typer.Argument(
            help="Also show every row of this study, of the catalog or a TOML file.", autocompletion=complete_study
        ),
    ] = None,
    every: Annotated[float, typer.Option(min=0.2, help="Refresh interval in seconds.")] = 2.0,
    once: Annotated[bool, typer.Option("--once", help="Print once and exit.")] = False,
    until_done: Annotated[bool, typer.Option("--until-done", help="Exit when no trial is running.")] = False,
    plugin: Plugins = None,
    allow: Allowed = None,
    store: StorePath = DEFAULT_STORE,
    json: Json = False,
) -> None:
    """Show running trials live: progress, time left, failures. Ctrl-C does not stop the trials.

    All processes and machines that write to the store are shown.

    Example: graphtrial watch
    """
    from graphtrial.results.live import snapshot

    load_code(plugin, allow)
    opened = open_store(store)
    planned = None if study is None else _load(study)
    if json:
        current = snapshot(opened)
        whole = None if planned is None else planned(opened, current)
        print_json({**current.to_dict(), **({} if whole is None else {"study": whole.to_dict()})})
        return
    if once:
        current = snapshot(opened)
        out.print(render(current, None if planned is None else planned(opened, current)))
        return
    try:
        with Live(console=out, auto_refresh=False) as live:
            while True:
                current = snapshot(opened)
                live.update(render(current, None if planned is None else planned(opened, current)), refresh=True)
                if until_done and not current.running:
                    return
                time.sleep(every)
    except KeyboardInterrupt:
        return


def _load(name: str) -> Callable[[Store, Snapshot], StudyProgress]:
    from graphtrial.results.study_progress import study_progress
    from graphtrial.studies import load_study

    study = load_study(name)
    return lambda store, current: study_progress(study, store, current)


def render(current: Snapshot, study: StudyProgress | None = None) -> Group:
    """Render a snapshot for the terminal, names without markup; that of a study first."""
    from graphtrial.results.live import duration

    several = len({one.host for one in current.running}) > 1
    counts = ", ".join(f"{count} {status}" for status, count in current.statuses.items()) or "no trials yet"
    table = TerminalTable(
        *(TableColumn("trial"), TableColumn("epoch", numeric=True), TableColumn("validation", numeric=True)),
        *(TableColumn(heading, numeric=True, priority=1) for heading in ("learning rate", "s/epoch")),
        *(TableColumn("progress", numeric=True, priority=2), TableColumn("time left", numeric=True)),
        *((TableColumn("host", priority=1),) if several else ()),
        title="running trials",
    )
    for one in current.running:
        table.add_row(
            f"{one.id[:6]}  {one.name}",
            str(one.epoch),
            "-" if one.val_score is None else f"{one.val_score:.4g} {one.metric}",
            "-" if one.lr is None else f"{one.lr:.1e}",
            "-" if one.epoch_seconds is None else f"{one.epoch_seconds:.2f}",
            "" if one.progress is None else ProgressBar(total=1.0, completed=one.progress, width=20),
            "-" if one.seconds_left is None else duration(one.seconds_left),
            *((one.host or "-",) if several else ()),
        )
    parts: list[Text | TerminalTable] = [*(() if study is None else _study_parts(study)), Text(counts)]
    parts.append(table if current.running else Text("no running trials"))
    for failure in current.failures:
        parts.append(Text(f"failed: {failure.id[:6]}  {failure.name}: {failure.reason}", style="red"))
    return Group(*parts)


def _study_parts(study: StudyProgress) -> tuple[Text, TerminalTable]:
    """Render the rows of a study and a line of totals."""
    from graphtrial.cli.progress import format_left

    table = TerminalTable(
        *(TableColumn(heading) for heading in ("dataset", "model", "encoding")),
        *(TableColumn(heading, numeric=True) for heading in ("done", "running", "failed")),
        TableColumn("time left, one at a time", numeric=True, priority=1),
    )
    for row in study.rows:
        left = format_left(row.seconds_left).replace(" left", "") if row.done < row.trials else ""
        table.add_row(
            *(row.dataset, row.model, row.encoding),
            *(f"{row.done}/{row.trials}", str(row.running or "-"), str(row.failed or "-"), left or "-"),
        )
    total = [f"{study.title}: {study.done} of {study.trials} trials done"]
    if study.hosts:
        hosts = ", ".join(f"{count} on {host or 'this machine'}" for host, count in study.hosts.items())
        total.append(f"running {hosts}")
    if study.done < study.trials:
        total.append(format_left(study.seconds_left) or "time left not known yet")
    return Text("; ".join(total)), table
