"""Run every workload against its baselines and write RESULTS.md: `python -m benchmarks`."""

from __future__ import annotations

import argparse
import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks import machine, report
from benchmarks.data import prepare
from benchmarks.match import OURS, Match, Result, Side, play
from benchmarks.protocol import Contestant, Repetition
from benchmarks.workloads import chosen
from graphtrial.tape.runner import warm_up

OUT = Path(__file__).with_name("RESULTS.md")


def main(arguments: list[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smoke test on tiny workloads")
    parser.add_argument("--only", default="", help="sections or workloads, such as zinc,pattern/gcn")
    parser.add_argument(
        "--out", type=Path, help="report file; default benchmarks/RESULTS.md, or standard output with --quick"
    )
    parser.add_argument("--json", type=Path, help="save every repetition to this file")
    parser.add_argument("--from-json", type=Path, nargs="+", help="write the report of saved runs of several sections")
    options = parser.parse_args(arguments)
    if options.from_json:
        runs = [json.loads(file.read_text(encoding="utf-8")) for file in options.from_json]
        results = {result["match"]["name"]: _read(result) for run in runs for result in run["results"]}
        facts, quick = _facts_of([run["facts"] for run in runs]), any(run["quick"] for run in runs)
    else:
        quick = options.quick
        results, facts = _run(chosen([name for name in options.only.split(",") if name], quick), quick)
    if options.json:
        saved = {"facts": facts, "quick": quick, "results": [asdict(result) for result in results.values()]}
        options.json.write_text(json.dumps(saved, indent=1) + "\n", encoding="utf-8")
    text = report.write(results, facts, quick)
    out = options.out or (None if quick else OUT)
    if out:
        out.write_text(text, encoding="utf-8")
    else:
        print(text)


def _run(matches: list[Match], quick: bool) -> tuple[dict[str, Result], dict[str, str]]:
    if not quick:
        warm_up()  # else a contestant takes the ordinary path while another process compiles the interpreter
        prepare(match.name for match in matches)
    facts = machine.describe()
    before, start = machine.load_average(), time.monotonic()
    missing = _not_registered(matches)

    def played(match: Match) -> Result:
        if match.sides[0].arguments.get("model") in missing:
            return Result(match, skipped={OURS: "not in the registry"})
        return play(match, lambda text: print(text, file=sys.stderr, flush=True))

    with ThreadPoolExecutor(
        len(machine.cores()) if quick else 1
    ) as referees:  # concurrent only where times do not matter
        results = dict(zip((match.name for match in matches), referees.map(played, matches), strict=True))
    facts["threads"] = f"1 per contestant, pinned to one core; whole machine and start: {len(machine.cores())} cores"
    facts["load average"] = f"{_loads(before)} before, {_loads(machine.load_average())} after"
    facts["duration"] = f"{(time.monotonic() - start) / 60:.1f} minutes"
    return results, facts


def _facts_of(runs: list[dict[str, str]]) -> dict[str, str]:
    """Return what runs have in common once, and the rest run by run."""
    return {name: "; ".join(dict.fromkeys(run[name] for run in runs if name in run)) for name in runs[0]}


def _not_registered(matches: list[Match]) -> set[str]:
    models = {match.sides[0].arguments["model"] for match in matches if "model" in match.sides[0].arguments}
    if not models:
        return models
    registry = Contestant("benchmarks.training:registry", {})
    try:
        return models.difference(registry.warm_up().facts["models"])
    finally:
        registry.close()


def _loads(values: tuple[float, float, float]) -> str:
    return " / ".join(f"{value:.2f}" for value in values)


def _read(values: dict[str, Any]) -> Result:
    fields = values["match"]
    match = Match(**{**fields, "sides": tuple(Side(**side) for side in fields["sides"])})
    repetitions = {side: [Repetition(**r) for r in reps] for side, reps in values["repetitions"].items()}
    return Result(match, repetitions, values["ready"], values["skipped"])


if __name__ == "__main__":
    main()
