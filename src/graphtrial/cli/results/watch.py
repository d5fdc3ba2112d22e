"""`graphtrial watch`: running trials, live in the terminal."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.text import Text

from graphtrial.cli.common import Json, StorePath, friendly, out, print_json
from graphtrial.cli.results.see import open_store
from graphtrial.core.files import DEFAULT_STORE
from graphtrial.core.terminal import TableColumn, TerminalTable

if TYPE_CHECKING:
    from graphtrial.results.live import Snapshot


@friendly
def watch(
    every: Annotated[float, typer.Option(min=0.2, help="Refresh interval in seconds.")] = 2.0,
    once: Annotated[bool, typer.Option("--once", help="Print once and exit.")] = False,
    until_done: Annotated[bool, typer.Option("--until-done", help="Exit when no trial is running.")] = False,
    store: StorePath = DEFAULT_STORE,
    json: Json = False,
) -> None:
    """Show running trials live: progress, time left, failures. Ctrl-C does not stop the trials.

    Example: graphtrial watch
    """
    from graphtrial.results.live import snapshot

    opened = open_store(store)
    if json:
        print_json(snapshot(opened).to_dict())
        return
    if once:
        out.print(render(snapshot(opened)))
        return
    try:
        with Live(console=out, auto_refresh=False) as live:
            while True:
                current = snapshot(opened)
                live.update(render(current), refresh=True)
                if until_done and not current.running:
                    return
                time.sleep(every)
    except KeyboardInterrupt:
        return


def render(current: Snapshot) -> Group:
    """Render a snapshot for the terminal, names without markup."""
    from graphtrial.results.live import duration

    counts = ", ".join(f"{count} {status}" for status, count in current.statuses.items()) or "no trials yet"
    table = TerminalTable(
        *(TableColumn("trial"), TableColumn("epoch", numeric=True), TableColumn("validation", numeric=True)),
        *(TableColumn(heading, numeric=True, priority=1) for heading in ("learning rate", "s/epoch")),
        *(TableColumn("progress", numeric=True, priority=2), TableColumn("time left", numeric=True)),
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
        )
    parts: list[Text | TerminalTable] = [Text(counts)]
    parts.append(table if current.running else Text("no running trials"))
    for failure in current.failures:
        parts.append(Text(f"failed: {failure.id[:6]}  {failure.name}: {failure.reason}", style="red"))
    return Group(*parts)
