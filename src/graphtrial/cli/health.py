"""`graphtrial doctor` and `graphtrial validate`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from rich.text import Text

from graphtrial.cli.common import Allowed, Json, Plugins, StorePath, friendly, load_code, out, print_json
from graphtrial.cli.completion import complete_study
from graphtrial.core.files import DEFAULT_STORE
from graphtrial.core.hardware.compute import Compute
from graphtrial.core.terminal import TableColumn, TerminalTable

COLOURS = {"ok": "green", "note": "yellow", "wrong": "bold red"}


@friendly
def doctor(
    study: Annotated[str | None, typer.Option(help="Also check whether this study is complete in the store.")] = None,
    clean: Annotated[bool, typer.Option("--clean", help="First remove temporary files of killed processes.")] = False,
    device: Annotated[
        str | None, typer.Option(help="Check this device instead: each operator against the CPU, speed of five models.")
    ] = None,
    plugin: Plugins = None,
    allow: Allowed = None,
    store: StorePath = DEFAULT_STORE,
    json: Json = False,
) -> None:
    """Check machine, packages, cache, raw files and store, and give advice.

    Exit code 0: nothing is wrong; 1: something is.

    Example: graphtrial doctor
    """
    load_code(plugin, allow)
    from graphtrial.doctor import clean as remove_leftovers
    from graphtrial.doctor import examine

    removed = [str(path) for path in remove_leftovers(store)] if clean else []
    if device is None:
        findings = examine(store, study)
    else:
        from graphtrial.doctor.device import check_device

        findings = list(check_device(Compute(device)))
    wrong = [finding for finding in findings if finding.state == "wrong"]
    if json:
        print_json({"sound": not wrong, "findings": [asdict(finding) for finding in findings], "removed": removed})
    else:
        for path in removed:
            out.print(f"removed: {path}", soft_wrap=True)
        table = TerminalTable(*(TableColumn(heading) for heading in ("", "check", "result", "advice")))
        for finding in findings:
            state = Text(finding.state, style=COLOURS[finding.state])
            table.add_row(state, f"{finding.area}: {finding.check}", finding.result, finding.advice)
        out.print(table)
        out.print(f"{len(wrong)} of {len(findings)} checks failed" if wrong else "all checks passed")
    if wrong:
        raise typer.Exit(1)


@friendly
def validate(
    file: Annotated[
        str,
        typer.Argument(
            help="A study (.toml or of the catalog) or a plug-in (.py), which is executed.",
            autocompletion=complete_study,
        ),
    ],
    plugin: Plugins = None,
    allow: Allowed = None,
    json: Json = False,
) -> None:
    """Validate a study or a plug-in without training; all problems are reported at once.

    Exit code 0: it is sound; 1: it is not.

    Example: graphtrial validate demo
    """
    load_code(plugin, allow)
    from graphtrial.validation import validate as validate_file

    verdict = validate_file(file)
    if json:
        print_json({"sound": verdict.is_sound, **asdict(verdict)})
    else:
        for problem in verdict.problems:
            out.print(f"wrong: {problem}", markup=False, soft_wrap=True)
        for fact in verdict.facts:
            out.print(fact, markup=False, soft_wrap=True)
        out.print(f"{file} is {'sound' if verdict.is_sound else 'not sound'}", markup=False, soft_wrap=True)
    if not verdict.is_sound:
        raise typer.Exit(1)
