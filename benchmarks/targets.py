"""Performance targets and their verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

from benchmarks import gps, modern
from benchmarks.kernels import GRAKEL
from benchmarks.match import OURS, Result
from benchmarks.workloads import FROM_LIST, ONE_BY_ONE, ONE_THREAD, PRODUCTS, PYG, TUNED

Measure = Literal["time", "memory", "fraction", "seconds"]


@dataclass(frozen=True)
class Target:
    """Target of the matches whose names match one of the wildcards `matches`.

    `time`: ratio of times of `side` and GraphTrial of at least `least`; `memory`: ratio of peak memory of at least
    `least`; `fraction`: `side` alone takes at least this fraction of GraphTrial's time; `seconds`: GraphTrial takes at
    most `most`.
    """

    matches: tuple[str, ...]
    measure: Measure
    side: str = PYG
    least: float = 0.0
    most: float = 0.0
    aim: float | None = None


TARGETS = (
    Target(("zinc/gcn", "zinc/gat", "zinc/monet"), "time", least=2),
    Target(("zinc/gin", "zinc/graphsage", "zinc/gatedgcn"), "time", least=1.8),
    Target(("pattern/gcn", "pattern/gin"), "time", least=20),
    Target(("pattern/gcn", "pattern/gin"), "time", TUNED, least=4),
    Target(("pattern/gatedgcn",), "time", least=8),
    Target(("pattern/gatedgcn",), "time", TUNED, least=2.5),
    Target(("wiki/gcn", "wiki/gat"), "time", least=10),
    Target(("small/*",), "time", least=3),
    Target(("small/graphtheoryprop *",), "seconds", OURS, most=4),
    Target(("start",), "seconds", OURS, most=2.5),
    Target(("start/*",), "seconds", OURS, most=0.3),
    Target(("store/*",), "seconds", OURS, most=1.0),
    Target(("trials/*",), "time", least=4),
    Target(("machine/gcn",), "time", least=2.3, aim=3.0),
    Target(("cores/pattern *", "cores/wiki *", "cores/zinc 3wl-gnn"), "time", ONE_THREAD, least=1.6),
    Target(("cores/zinc gcn", "cores/zinc gatedgcn"), "time", ONE_THREAD, least=1),
    Target(("cores/zinc g*", "cores/pattern *", "cores/wiki *"), "time", least=1),
    Target(("cores/zinc 3wl-gnn",), "time", ONE_BY_ONE, least=1),
    Target(("dense/3wl-gnn", "dense/ringgnn"), "time", ONE_BY_ONE, least=2.5),
    Target(("dense/* on every core",), "time", ONE_BY_ONE, least=5),
    Target(("gps/gine on zinc",), "time", gps.PYG, least=1.7),
    Target(("gps/gatedgcn on pattern",), "time", gps.PYG, least=4),
    Target(("gps/*",), "memory", gps.PYG, least=1),
    Target(("modern/gin-plus on zinc",), "time", modern.RELEASED, least=1.7),
    Target(("modern/exphormer on pattern",), "time", modern.RELEASED, least=4),
    Target(("modern/grit on zinc",), "time", modern.RELEASED, least=1.5),
    Target(("kernels/wl on nci1",), "time", GRAKEL, least=8),
    Target(("kernels/shortest-path on enzymes", "kernels/shortest-path on proteins"), "time", GRAKEL, least=5),
    Target(("kernels/shortest-path on dd", "kernels/shortest-path on reddit-binary"), "seconds", OURS, most=180),
    Target(("batching",), "time", FROM_LIST, least=10),
    Target(("encoding",), "seconds", OURS, most=5),
    Target(("encodings/*",), "seconds", OURS, most=10),
    Target(("zinc/*", "pattern/gatedgcn", "wiki/*"), "memory", least=1),
    Target(("pattern/gcn", "pattern/gin", "pattern/graphsage", "pattern/gat", "pattern/monet"), "memory", least=4),
    Target(
        tuple(f"{data}/{model}" for data in ("zinc", "pattern") for model in ("gcn", "gin", "graphsage")),
        "fraction",
        PRODUCTS,
        least=0.65,
    ),
)

LINEAR = 1.3
"""Tolerated factor beyond linear growth of time or memory."""


@dataclass(frozen=True)
class Verdict:
    """A target of a match, the measured value, and the verdict."""

    match: str
    goal: str
    measured: str
    verdict: str


def verdicts(results: Mapping[str, Result]) -> list[Verdict]:
    """Compare every result with the targets, in the order of the targets."""
    return [_verdict(target, result) for target in TARGETS for result in _concerned(target, results.values())]


def _concerned(target: Target, results: Iterable[Result]) -> list[Result]:
    return [r for r in results if any(fnmatchcase(r.match.name, pattern) for pattern in target.matches)]


def _verdict(target: Target, result: Result) -> Verdict:
    name, goal = result.match.name, _requirement(target)
    reason = result.skipped.get(OURS) or result.skipped.get(target.side)
    if reason:
        return Verdict(name, goal, reason, "not run")
    if target.measure == "memory":
        memory = result.memory_ratio(target.side)
        return Verdict(name, goal, "-" if memory is None else f"{memory:.2f} x", _word(target, memory, memory))
    if target.measure == "seconds":
        took = result.seconds(OURS)
        word = "not run" if took is None else "reached" if took.median <= target.most else "missed"
        return Verdict(name, goal, "-" if took is None else f"{took.median:.3g} s", word)
    ratio = result.ratio(target.side)
    if ratio is None:
        return Verdict(name, goal, "-", "not run")
    if target.measure == "fraction":
        measured = f"{100 * ratio.median:.0f} % ({100 * ratio.low:.0f} to {100 * ratio.high:.0f})"
    else:
        measured = f"{ratio.median:.2f} x ({ratio.low:.2f} to {ratio.high:.2f})"
    return Verdict(name, goal, measured, _word(target, ratio.median, ratio.low))


def _requirement(target: Target) -> str:
    aim = f", aiming at {target.aim:g}" if target.aim else ""
    if target.measure == "time":
        return f"at least {target.least:g} times as fast as {target.side}{aim}"
    if target.measure == "memory":
        return (
            "peak memory not above PyG's" if target.least == 1 else f"peak memory at most 1/{target.least:g} of PyG's"
        )
    if target.measure == "fraction":
        return f"at least {100 * target.least:.0f} % of the limit set by the matrix products"
    return f"at most {target.most:g} s"


def _word(target: Target, value: float | None, lowest: float | None) -> str:
    if value is None or lowest is None:
        return "not run"
    if value < target.least:
        return "**missed**"
    if lowest < target.least:
        return "reached, not in every round"
    return "reached" if target.aim is None or value >= target.aim else "reached, short of the aim"
