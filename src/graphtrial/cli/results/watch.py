"""`graphtrial watch`: running trials, live in the terminal."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from graphtrial.cli.common import Json, StorePath, friendly, out, print_json
from graphtrial.cli.results.see import open_store
from graphtrial.core.files import DEFAULT_STORE

if TYPE_CHECKING:
    from graphtrial.results.live import Snapshot


@friendly
def watch(
    every: Annotated[float, typer.Option(min=0.2, help="Seconds between two looks.")] = 2.0,
    once: Annotated[bool, typer.Option("--once", help="Look once and end.")] = False,
    until_done: Annotated[bool, typer.Option("--until-done", help="End when nothing runs any more.")] = False,
    store: StorePath = DEFAULT_STORE,
    json: Json = False,
) -> None:
    """Watch what runs: progress, time left, failures. Ctrl-C ends watching, not the trials.

    Example: graphtrial watch
    """
    from graphtrial.results.live import snapshot

    opened = open_store(store)
    if json:
        print_json(snapshot(opened).to_dict())
        return
    if once:
        out.print(picture(snapshot(opened)))
        return
    try:
        with Live(console=out, auto_refresh=False) as live:
            while True:
                seen = snapshot(opened)
                live.update(picture(seen), refresh=True)
                if until_done and not seen.running:
                    return
                time.sleep(every)
    except KeyboardInterrupt:
        return


def picture(seen: Snapshot) -> Group:
    """Return what a snapshot looks like in the terminal; names are printed as they are, whatever is in them."""
    from graphtrial.results.live import duration

    counts = ", ".join(f"{count} {status}" for status, count in seen.statuses.items()) or "no trials yet"
    table = Table("trial", "epoch", "validation", "rate", "s/epoch", "progress", "left", title="running now")
    for one in seen.running:
        table.add_row(
            Text(f"{one.id[:6]}  {one.name}"),
            str(one.epoch),
            "-" if one.val_score is None else f"{one.val_score:.4g} {one.metric}",
            "-" if one.lr is None else f"{one.lr:.1e}",
            "-" if one.epoch_seconds is None else f"{one.epoch_seconds:.2f}",
            "" if one.progress is None else ProgressBar(total=1.0, completed=one.progress, width=20),
            "-" if one.seconds_left is None else duration(one.seconds_left),
        )
    parts: list[Text | Table] = [Text(counts)]
    parts.append(table if seen.running else Text("nothing runs"))
    for failure in seen.failures:
        parts.append(Text(f"failed: {failure.id[:6]}  {failure.name}: {failure.reason}", style="red"))
    return Group(*parts)
