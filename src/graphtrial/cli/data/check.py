"""`graphtrial data check`: ours beside the published."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.table import Table

from graphtrial.cli.common import Allowed, Json, Plugins, friendly, load_code, out, print_json
from graphtrial.core.errors import GraphTrialError


@friendly
def check(
    names: Annotated[list[str] | None, typer.Argument(help="Datasets by name.")] = None,
    all_: Annotated[bool, typer.Option("--all", help="Every dataset there is.")] = False,
    large: Annotated[bool, typer.Option(help="Prepare those that take minutes or gigabytes too.")] = True,
    fetch: Annotated[bool, typer.Option("--fetch", help="Download what is not on this machine.")] = False,
    plugin: Plugins = None,
    allow: Allowed = None,
    json: Json = False,
) -> None:
    """Compare datasets with their published statistics, number by number.

    Exit code 0: whatever could be compared agrees, or its difference is known or says nothing against the data; 1:
    something differs or is damaged; 3: a dataset that was named is not on this machine.

    Example: graphtrial data check csl enzymes
    """
    load_code(plugin, allow, *(names or []))
    from graphtrial.core.progress import track
    from graphtrial.datasets.check import WRONG, all_names, summary
    from graphtrial.datasets.check import check as check_dataset

    if bool(names) == all_:
        raise GraphTrialError("name the datasets to check, or check --all of them")
    wanted = all_names() if all_ else names or []
    found = [check_dataset(name, fetch=fetch, large=large) for name in track(wanted, "checking", len(wanted))]
    if json:
        print_json({"summary": summary(found), "datasets": found})
    else:
        _print(found, everything=not all_)
    if any(facts["status"] in WRONG for facts in found):
        raise typer.Exit(1)
    if names and any(facts["status"] == "not here" for facts in found):
        raise typer.Exit(3)


def _print(found: list[dict[str, Any]], everything: bool) -> None:
    from graphtrial.datasets.check import summary

    table = Table("dataset", "source", "what", "ours", "published", "verdict", title="ours beside the published")
    told = []
    for facts in found:
        if facts["status"] == "not here" and not everything:
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
            told.append(f"{facts['name']}, {facts['status']}: {facts['reason']}")
    if table.row_count:
        out.print(table)
    for line in told:
        out.print(line, markup=False, soft_wrap=True)
    out.print(", ".join(f"{count} {status}" for status, count in summary(found).items()))
    if not everything and any(facts["status"] == "not here" for facts in found):
        out.print("What is not here is listed with its files and addresses by --json.")


def _flat(value: Any) -> str:
    if isinstance(value, list):
        return " / ".join(map(_flat, value))
    return f"{value:,.10g}" if isinstance(value, int | float) else str(value)
