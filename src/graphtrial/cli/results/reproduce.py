"""`graphtrial reproduce`: run a stored trial or row again and compare."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from graphtrial.cli.common import (
    Allowed,
    Compile,
    Device,
    Json,
    PerDevice,
    Plugins,
    StorePath,
    Threads,
    Workers,
    err,
    friendly,
    load_code,
    out,
    print_json,
)
from graphtrial.cli.results.see import IsShipped, store_of
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.files import DEFAULT_STORE
from graphtrial.core.hardware.compute import Compute
from graphtrial.core.parallel import prepare_workers
from graphtrial.core.terminal import TableColumn, TerminalTable

if TYPE_CHECKING:
    from graphtrial.trials import Store, TrialRecord


@friendly
def reproduce(
    name: Annotated[str, typer.Argument(help="Id of a trial, or of a row in the report, or a prefix of it.")],
    tolerance: Annotated[float, typer.Option(min=0, help="Relative tolerance of scores where versions differ.")] = 0.05,
    shipped: IsShipped = False,
    plugin: Plugins = None,
    allow: Allowed = None,
    workers: Workers = None,
    device: Device = "auto",
    threads: Threads = None,
    per_device: PerDevice = 1,
    compile: Compile = False,
    store: StorePath = DEFAULT_STORE,
    json: Json = False,
) -> None:
    """Run a trial, or all trials of a row, again and compare; bitwise equal if versions are the same.

    Example: graphtrial reproduce 338112 --shipped
    """
    compute = Compute(device, threads, per_device, compile)
    compute.devices()
    if workers != 0:
        prepare_workers()
    load_code(plugin, allow)
    from graphtrial.cli.progress import shown_progress
    from graphtrial.execution.eta import RemainingTime
    from graphtrial.execution.reproduce import reproduce as run_again

    opened = store_of(store, shipped)
    full_name, records = _records(opened, name)
    folder = DEFAULT_STORE.parent / "reproduced" / full_name
    try:
        remaining = RemainingTime(record.spec for record in records)
        with shown_progress(len(records), 0, quiet=json, remaining=remaining) as listener:
            reproductions = run_again(
                records, opened, folder, workers=workers, tolerance=tolerance, listener=listener, compute=compute
            )
    except KeyboardInterrupt:
        err.print("graphtrial: stopped; the same command resumes each trial from its last epoch", soft_wrap=True)
        raise typer.Exit(130) from None
    if json:
        print_json([asdict(one) | {"holds": one.holds} for one in reproductions])
    else:
        scored = (TableColumn(heading, numeric=True) for heading in ("test before", "test after"))
        table = TerminalTable(
            TableColumn("trial", rigid=True), *scored, TableColumn("verdict"), title=f"reproduced: {full_name}"
        )
        for one in reproductions:
            scores = (f"{s['test']:.6g}" if "test" in s else "-" for s in (one.before, one.after))
            table.add_row(one.trial, *scores, one.verdict)
        out.print(table)
        for reason in dict.fromkeys(one.reason for one in reproductions):
            out.print(reason, markup=False, soft_wrap=True)
        for field, (before, after) in reproductions[0].changed.items():
            out.print(f"  {field}: {before or 'none'} before, {after or 'none'} after", markup=False, soft_wrap=True)
    if not all(one.holds for one in reproductions):
        raise typer.Exit(1)


def _records(store: Store, name: str) -> tuple[str, list[TrialRecord]]:
    """Return the full id and the finished trials of a trial or row."""
    if not name.startswith("row-"):
        record = store.find(name)
        return record.id, [record]
    from graphtrial.results.select import stored_rows

    rows = [row for row in stored_rows(store) if row.id.startswith(name)]
    if len(rows) != 1:
        number = f"{len(rows)} rows begin" if rows else "no row begins"
        raise GraphTrialError(f"{number} with '{name}' in {store.path}; `graphtrial report` shows the id of each")
    records = [trial for trial in rows[0].trials if trial.is_finished]
    if not records:
        raise GraphTrialError(f"{rows[0].id} has no finished trial yet")
    return rows[0].id, records
