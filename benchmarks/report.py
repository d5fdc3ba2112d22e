"""Report RESULTS.md: environment, targets, tables."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from benchmarks.entries import BATCH, BY_NAME
from benchmarks.match import OURS, Result
from benchmarks.tables import megabytes, ratio, seconds, table
from benchmarks.targets import LINEAR, verdicts
from benchmarks.workloads import EPOCH_GRAPHS, PRODUCTS, PYG, SECTIONS, TUNED

BOUNDS = Path(__file__).with_name("BOUNDS.md")
TITLES = {
    "zinc": f"Training epoch on ZINC ({EPOCH_GRAPHS:,} graphs, batch {BATCH}, one core)",
    "pattern": f"Training epoch on {EPOCH_GRAPHS:,} PATTERN-like graphs (118 nodes, 5,900 directed edges, one core)",
    "wiki": "Full-batch training step on a Wiki-CS-sized graph (11,701 nodes, 431,726 directed edges, one core)",
    "batching": f"Collating {BATCH} ZINC graphs (one core)",
    "encoding": "Laplacian encoding, 8 eigenvectors, of the 12,000 graphs of ZINC (one core)",
    "encodings": "Encodings of the 12,000 graphs of ZINC, and relations of node pairs in batches of 32 (one core)",
    "start": "From the command to the end of its first training step (prepared data, all cores)",
    "store": "Store: 1,000 transactions of one epoch each (all writers together)",
    "trials": "Many trials: 10 x 10 folds x 15 points of the grid of `tudataset/gnn`, all cores",
    "machine": "Whole machine: several seeds of GCN on ZINC",
    "cores": "One trial, all cores: training epoch or step as above, one thread per core",
    "dense": f"Rank-2 models: training epoch on ZINC ({EPOCH_GRAPHS:,} graphs), one core, or one trial on each",
    "small": "Training epoch in batches of 5 to 64 graphs: at most 1,000 graphs, 5,120 of GraphTheoryProp (one core)",
    "modern": "GIN+, Exphormer and GRIT at their released sizes: training step on 32 graphs, one core",
    "gps": "GPS (width 64, 4 heads, attention dropout 0.5): training step on 32 graphs, one core",
    "splits": "Vectorised trials on all splits of one graph, and single trials: 20 epochs and evaluation (one core)",
    "kernels": "Graph kernels (one core)",
    "scaling": "Scaling of GraphTrial (GCN, width 145 or 146, one core)",
}
TRAINING = ("zinc", "pattern", "wiki")


def write(results: Mapping[str, Result], facts: Mapping[str, str], quick: bool) -> str:
    """Return the report as Markdown."""
    parts = ["# Benchmark results", _head(facts, quick), _verdict_table(results, quick)]
    for section in SECTIONS:
        actual = [r for name, r in results.items() if name.split("/")[0] == section]
        if not actual:
            continue
        parts += [f"## {TITLES[section]}", _body(section, actual), _notes(section, actual)]
    parts += [_memory(results), _roofline(results), "## What bounds us now", _bounds()]
    return "\n\n".join(part for part in parts if part) + "\n"


def _body(section: str, actual: list[Result]) -> str:
    if section in TRAINING:
        return _training(actual)
    growing = [r for r in actual if " x" in r.match.name]
    others = [r for r in actual if r not in growing]
    return "\n\n".join([*([_plain(others)] if others else []), *([_scaling(growing)] if growing else [])])


def _head(facts: Mapping[str, str], quick: bool) -> str:
    lines = [f"- {key}: {value}" for key, value in facts.items()]
    warning = "**A smoke test: its numbers are meaningless.**\n\n" if quick else ""
    return (
        warning
        + "\n".join(lines)
        + "\n\nMedians with (minimum to maximum) over rounds in which every contestant runs once, each in a process of "
        "its own. Ratios are paired by round; a ratio of times under 1.3 is unproven. One core: process and threads "
        "are pinned to it, with one compute thread. PyG: the same model with PyG's layers, `Data` objects and "
        '`DataLoader`; "allocator set": with glibc\'s `MALLOC_` variables that avoid page faults.'
    )


def _verdict_table(results: Mapping[str, Result], quick: bool) -> str:
    rows = [[v.match, v.goal, v.measured, "quick run" if quick else v.verdict] for v in verdicts(results)]
    return "## Targets\n\n" + table(["workload", "target", "measured", "verdict"], rows) if rows else ""


def _training(results: list[Result]) -> str:
    head = ["model", "width", "parameters", OURS, PYG, TUNED, "PyG / ours", "allocator set / ours", "loss, ours", "PyG"]
    rows = []
    for r in results:
        workload, model = r.match.name.split("/")
        rows.append(
            [BY_NAME[model].title, str(BY_NAME[model].width(workload)), _parameters(r)]
            + [seconds(r.seconds(side)) for side in (OURS, PYG, TUNED)]
            + [ratio(r.ratio(side)) for side in (PYG, TUNED)]
            + [_losses(r, side) for side in (OURS, PYG)]
        )
    return table(head, rows)


def _plain(results: list[Result]) -> str:
    sides = list(dict.fromkeys(side.name for r in results for side in r.match.sides))
    head = ["workload", *sides, *[f"{side} / ours" for side in sides if side != OURS]]
    return table(
        head,
        [
            [r.match.name, *[seconds(r.seconds(s)) for s in sides], *[ratio(r.ratio(s)) for s in sides if s != OURS]]
            for r in results
        ],
    )


def _scaling(results: list[Result]) -> str:
    rows, before = [], dict[str, tuple[float, float]]()
    for r in sorted(results, key=lambda r: r.match.name):
        took, peak, growth = r.seconds(OURS), r.peak(OURS), r.growth(OURS)
        if took is None or peak is None or growth is None:
            rows.append([r.match.name.split("/")[1], "-", "-", "-", "-", r.skipped.get(OURS, "-")])
            continue
        family = r.match.name.rsplit(" x", 1)[0]
        times = [took.median / before[family][0], growth / before[family][1]] if family in before else None
        before[family] = took.median, max(1.0, growth)
        word = "" if times is None else "linear" if max(times) <= 10 * LINEAR else "**more than linear**"
        grown = ["", ""] if times is None else [f"{value:.1f} x" for value in times]
        rows.append([r.match.name.split("/")[1], seconds(took), grown[0], _peak(r, OURS), grown[1], word])
    return table(["graphs", "time", "grown by", "peak MB (beyond imports)", "grown by", "verdict"], rows)


def _memory(results: Mapping[str, Result]) -> str:
    rows = []
    for name, r in results.items():
        if name.split("/")[0] in TRAINING and r.peak(OURS) is not None:
            fractions = [r.memory_ratio(side) for side in (PYG, TUNED)]
            rows.append(
                [name, *[_peak(r, side) for side in (OURS, PYG, TUNED)]]
                + ["-" if fraction is None else f"{fraction:.2f} x" for fraction in fractions]
            )
    head = ["workload", OURS, PYG, TUNED, "PyG / ours", "allocator set / ours"]
    title = "## Peak memory\n\nPeak resident memory of each process in MB (in brackets: beyond that after imports)."
    return f"{title}\n\n{table(head, rows)}" if rows else ""


def _roofline(results: Mapping[str, Result]) -> str:
    head = [
        "workload",
        "GFLOP",
        "GFLOP/s",
        "products",
        "GB",
        "GB/s",
        "traffic",
        "sum",
        OURS,
        "products / ours",
        "sum / ours",
    ]
    rows = []
    for name, r in results.items():
        products, ours, fraction = r.seconds(PRODUCTS), r.seconds(OURS), r.ratio(PRODUCTS)
        if products is None or ours is None or fraction is None:
            continue
        facts = r.repetitions[PRODUCTS][-1].facts
        gflop, gigabytes = (facts[key] * r.match.scale for key in ("gflop", "gigabytes"))
        rates = sorted(repetition.facts["bandwidth"] for repetition in r.repetitions[PRODUCTS])
        moving = gigabytes / rates[len(rates) // 2]
        total = products.median + moving
        rows.append(
            [
                *(name, f"{gflop:.0f}", f"{gflop / products.median:.0f}", f"{products.median:.3g} s"),
                *(f"{gigabytes:.0f}", f"{rates[len(rates) // 2]:.0f}", f"{moving:.3g} s", f"{total:.3g} s"),
                *(f"{ours.median:.3g} s", f"{100 * fraction.median:.0f} %", f"{100 * total / ours.median:.0f} %"),
            ]
        )
    text = (
        "## Roofline\n\nPer epoch on one core, measured in the same rounds. Products: the matrix products of the model "
        "forward and backward, in isolation (the faster of the original shapes and shapes padded to multiples of 16). "
        "Traffic: the bytes read and written by everything else, fully fused, at the bandwidth of "
        "`a = b + c` on arrays of the size of the node or edge states. The sum is a lower bound without overlap of the "
        "two."
    )
    return f"{text}\n\n{table(head, rows)}" if rows else ""


def _notes(section: str, results: list[Result]) -> str:
    notes = []
    for r in results:
        part = r.match.scale * r.match.sides[0].arguments.get("graphs", 0)
        if section in ("zinc", "pattern", "encoding") and r is results[0] and part:
            batches = r.match.sides[0].arguments["graphs"]
            notes.append(
                f"Measured on {batches:,} graphs (first row) and extrapolated by a factor of {r.match.scale:.3g}."
            )
        if r.match.one_at_a_time:
            notes.append(
                f"{r.match.name}: a fresh process for each repetition, because of the memory of its baselines."
            )
        notes += [f"{r.match.name}: {side} was skipped: {reason}." for side, reason in r.skipped.items()]
        notes += [f"{r.match.name}: **{side} did not train**." for side in (OURS, PYG, TUNED) if _idle(r, side)]
    if section == "kernels":
        peaks = [f"{r.match.name.partition('/')[2]} {_peak(r, OURS)}" for r in results if r.peak(OURS) is not None]
        listed = "; ".join(peaks)
        notes.append(f"Peak MB of GraphTrial (beyond imports): {listed}. GraKeL's Gram matrices equal ours.")
    if section in TRAINING:
        notes.append("GraphTrial's times include collating each batch and validation on one graph.")
    if section == "cores":
        notes.append(
            "PyG with all threads; 3WL-GNN, which PyG has not, against a loop over single graphs with all threads. "
            "The results of GraphTrial have the same bits on any number of threads."
        )
    if section == "trials":
        notes.append(
            "Extrapolated by a factor of {:.0f} from layers {layers}, width {width} on {folds} folds of one seed, "
            "{epochs} epochs each. GraphTrial's executor with store and checkpoints, start and loading of data "
            "included; PyG in one process and thread per core, with data loaded and started before. Both validate each "
            "epoch and score all parts.".format(results[0].match.scale, **results[0].match.sides[0].arguments)
        )
    if section == "machine":
        notes.append(
            "{seeds} seeds, {epochs} epochs each: GraphTrial's executor, one process and thread per core; PyG one seed "
            "after the other with all threads. Both validate each epoch and test all three splits at the "
            "end.".format(**results[0].match.sides[0].arguments)
        )
    return "\n".join(f"- {note}" for note in notes)


def _idle(result: Result, side: str) -> bool:
    if result.match.name.split("/")[0] not in TRAINING or result.match.one_at_a_time:
        return False
    losses = result.checksums(side)
    return any(not math.isfinite(loss) for loss in losses) or (len(losses) > 1 and len(set(losses)) == 1)


def _losses(result: Result, side: str) -> str:
    losses = result.checksums(side)
    return f"{losses[0]:.3f} → {losses[-1]:.3f}" if losses else "-"


def _parameters(result: Result) -> str:
    counts = {
        side: int(result.repetitions[side][0].facts["parameters"])
        for side in (OURS, PYG)
        if result.repetitions.get(side)
    }
    if len(set(counts.values())) > 1:
        return f"{counts[OURS]:,} **but PyG {counts[PYG]:,}**"
    return f"{next(iter(counts.values())):,}" if counts else "-"


def _peak(result: Result, side: str) -> str:
    return f"{megabytes(result.peak(side))} ({megabytes(result.growth(side))})"


def _bounds() -> str:
    return BOUNDS.read_text(encoding="utf-8").strip() if BOUNDS.exists() else "*Not written yet: benchmarks/BOUNDS.md.*"
