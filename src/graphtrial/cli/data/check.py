"""`graphtrial data check`: compare datasets with their published statistics."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from graphtrial.cli.common import Allowed, Json, Plugins, friendly, load_code, out, print_json
from graphtrial.cli.completion import complete_dataset
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.terminal import TableColumn, TerminalTable


@friendly
def check(
    names: Annotated[
        list[str] | None, typer.Argument(help="Datasets by name.", autocompletion=complete_dataset)
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Check all datasets.")] = False,
    large: Annotated[bool, typer.Option(help="Include datasets that take minutes or gigabytes to prepare.")] = True,
    fetch: Annotated[bool, typer.Option("--fetch", help="Download missing files.")] = False,
    plugin: Plugins = None,
    allow: Allowed = None,
    json: Json = False,
) -> None:
    """Compare datasets with their published statistics, number by number.

    Exit code 0: all compared statistics agree, or their difference is documented or unsettled; 1: a statistic differs
    or a dataset is corrupt; 3: files of a named dataset are missing.

    Example: graphtrial data check csl enzymes
    """
    load_code(plugin, allow, *(names or []))
    from graphtrial.core.progress import track
    from graphtrial.datasets.check import WRONG, all_names, summary
    from graphtrial.datasets.check import check as check_dataset

    if bool(names) == all_:
        raise GraphTrialError("name the datasets to check, or check --all of them")
    chosen = all_names() if all_ else names or []
    checked = [check_dataset(name, fetch=fetch, large=large) for name in track(chosen, "checking", len(chosen))]
    if json:
        print_json({"summary": summary(checked), "datasets": checked})
    else:
        _print(checked, with_missing=not all_)
    if any(facts["status"] in WRONG for facts in checked):
        raise typer.Exit(1)
    if names and any(facts["status"] == "missing" for facts in checked):
        raise typer.Exit(3)


def _print(checked: list[dict[str, Any]], with_missing: bool) -> None:
    from graphtrial.datasets.check import summary

    table = TerminalTable(
        *(TableColumn("dataset"), TableColumn("source", priority=1), TableColumn("statistic")),
        *(TableColumn("measured", numeric=True), TableColumn("published", numeric=True), TableColumn("verdict")),
        title="Statistics of the datasets, measured and published",
    )
    reasons = []
    for facts in checked:
        if facts["status"] == "missing" and not with_missing:
            continue
        for number, row in enumerate(facts["rows"]):
            verdict = "known difference" if "reason" in row and row["agrees"] else row["rule"]
            wrong = "unsettled" if facts["status"] == "unsettled" else "DIFFERS"
            colour = "" if row["agrees"] else "yellow" if facts["status"] == "unsettled" else "red"
            table.add_row(
                facts["name"] if not number else "",
                (facts["source"] or "") if not number else "",
                row["what"],
                _flat(row["ours"]),
                _flat(row["published"]),
                verdict if row["agrees"] else f"{wrong}: {row['rule']}",
                style=colour,
            )
        if facts["reason"]:
            reasons.append(f"{facts['name']}, {facts['status']}: {facts['reason']}")
    if table.row_count:
        out.print(table)
    for line in reasons:
        out.print(line, markup=False, soft_wrap=True)
    out.print(", ".join(f"{count} {status}" for status, count in summary(checked).items()))
    if not with_missing and any(facts["status"] == "missing" for facts in checked):
        out.print("Missing files are listed with their URLs by --json.")


def _flat(value: Any) -> str:
    if isinstance(value, list):
        return " / ".join(map(_flat, value))
    return f"{value:,.10g}" if isinstance(value, int | float) else str(value)
