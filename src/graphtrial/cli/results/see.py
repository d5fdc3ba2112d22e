"""`graphtrial status` and `graphtrial show`: trials of a store."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphtrial.cli.common import Json, StorePath, friendly, out, print_json
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.files import DEFAULT_STORE
from graphtrial.core.terminal import TableColumn, TerminalTable

if TYPE_CHECKING:
    from graphtrial.trials import Store

IsShipped = Annotated[bool, typer.Option("--shipped", help="Use the results shipped with graphtrial.")]


@friendly
def status(shipped: IsShipped = False, store: StorePath = DEFAULT_STORE, json: Json = False) -> None:
    """List all trials with their status.

    Example: graphtrial status
    """
    from dataclasses import replace

    from graphtrial.results.columns.terminal import terminal_table
    from graphtrial.results.columns.trials import TRIAL_COLUMNS

    opened = store_of(store, shipped)
    records = [replace(record, status=_status(opened, record)) for record in opened.trials()]
    if json:
        print_json([TRIAL_COLUMNS.to_dict(record) for record in records])
        return
    out.print(terminal_table(TRIAL_COLUMNS, records) if records else "no trials yet")


@friendly
def show(
    trial: Annotated[str, typer.Argument(help="Id of a trial, or a prefix of it.")],
    shipped: IsShipped = False,
    store: StorePath = DEFAULT_STORE,
    json: Json = False,
) -> None:
    """Show one trial: specification, environment, result, last epochs, and the traceback if it failed.

    Example: graphtrial show 7ecb0f --shipped
    """
    from dataclasses import asdict

    opened = store_of(store, shipped)
    record = opened.find(trial)
    history = [asdict(epoch) for epoch in opened.history(record.id)]
    facts: dict[str, Any] = {
        "id": record.id,
        "status": _status(opened, record),
        "metric": record.metric,
        "scores": record.scores,
        "params": record.params,
        "epochs": len(history),
        "epoch_seconds": record.epoch_seconds,
        "starts": record.starts,
        "spec": record.spec.to_dict(),
        "settings": record.spec.settings,
        "rules": record.spec.rules.flat(),
        "environment": record.environment,
        "error": record.error,
    }
    if json:
        print_json({**facts, "history": history})
        return
    table = TerminalTable(TableColumn("", style="bold"), TableColumn(""), show_header=False)
    for key, value in facts.items():
        if value not in (None, {}) and key != "error":
            text = json_text.dumps(value, indent=2, ensure_ascii=False) if isinstance(value, dict) else str(value)
            table.add_row(key.replace("_", " "), text)
    out.print(table)
    for epoch in history[-5:]:
        out.print("  ".join(f"{key} {value:.6g}" for key, value in epoch.items()))
    if record.error:
        out.print(record.error, markup=False)


def store_of(path: Path, shipped: bool) -> Store:
    """Open the store of `--store`, or the shipped one."""
    if not shipped:
        opened: Store = open_store(path)
        return opened
    from graphtrial.shipped import shipped_store

    return shipped_store()


def open_store(path: Path) -> Any:
    """Open an existing store for reading."""
    from graphtrial.trials import Store

    if not path.exists() and not path.is_symlink():
        raise GraphTrialError(
            f"there is no store at {path}; `graphtrial run csl gcn` creates one, --store names another"
        )
    return Store(path, read_only=True)


def _status(store: Any, record: Any) -> str:
    from graphtrial.trials.heartbeat import is_running

    # A killed process leaves the status as it was, but releases its lock.
    dead = record.status == "running" and not is_running(store, record.id)
    return "interrupted" if dead else str(record.status)
