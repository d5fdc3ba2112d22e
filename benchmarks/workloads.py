"""Every match of the benchmark, by section."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from benchmarks import gps, kernels, modern, small, splits, store, trials
from benchmarks.entries import BATCH, DENSE, MODELS_OF, WALK_STEPS
from benchmarks.match import OURS, Match, Side

PYG, TUNED, PRODUCTS = "PyG", "PyG, allocator set", "matrix products"
ONE_THREAD = "GraphTrial, one thread"
ONE_BY_ONE, BY_FOURS = "one graph at a time", "GraphTrial, batches of 4"
FROM_LIST, DATA_LOADER = "PyG Batch.from_data_list", "PyG DataLoader"
ALLOCATOR = {
    "MALLOC_MMAP_THRESHOLD_": "4294967295",
    "MALLOC_TRIM_THRESHOLD_": "4294967295",
    "MALLOC_TOP_PAD_": "268435456",
}
EPOCH_GRAPHS = 10_000
ZINC_GRAPHS = 12_000
HEAVY = ("monet", "gatedgcn")
"""Models whose PyG twins need too much memory on PATTERN-like graphs for two processes at a time."""
WARM_UPS = 4
ONE_TRIAL = (
    *(("zinc", model) for model in ("gcn", "gatedgcn", "3wl-gnn")),
    *(("pattern", model) for model in ("gcn", "gatedgcn")),
    *(("wiki", model) for model in ("gcn", "gat")),
)
"""Workloads and models of one trial on all cores."""
ENCODINGS = (
    *("laplacian:8", "laplacian-pairs:8", "equivariant-laplacian:8", "heat-kernel:20", f"random-walk:{WALK_STEPS}"),
    *("rrwp:21", "cycles:8", "degree:8", "node-order:38", "random-walk:20+laplacian:8"),
)
TOLD = ("--help", *(f"list {kind}" for kind in ("datasets", "models", "encodings", "kernels", "protocols", "studies")))
PAIRS = ("RRWP of pairs", "walks along edges", "shortest paths of pairs", "expanders")


def zinc(quick: bool) -> Iterable[Match]:
    """(a) A training epoch on ZINC, extrapolated from 12 of its 79 batches."""
    batches = 2 if quick else 12
    for model in MODELS_OF["zinc"]:
        yield _training("zinc", model, batches * BATCH, 1 if quick else 5, all_sides=not quick or model == "gcn")


def pattern(quick: bool) -> Iterable[Match]:
    """(b) A training epoch of 10,000 PATTERN-like graphs, extrapolated from one batch."""
    for model in ("gcn", "gatedgcn") if quick else MODELS_OF["pattern"]:
        heavy = model in HEAVY
        batch = 16 if quick else BATCH
        rounds = 1 if quick else 2 if heavy else 4
        alone, all_sides = heavy and not quick, not quick or model == "gcn"
        yield _training("pattern", model, batch, rounds, alone=alone, all_sides=all_sides, batch=batch)


def wiki(quick: bool) -> Iterable[Match]:
    """(c) A full-batch training step on a graph of Wiki-CS's size."""
    for model in MODELS_OF["wiki"]:
        rounds, shrink = (1, 10) if quick else (5, 1)
        yield _training("wiki", model, 1, rounds, all_sides=not quick, shrink=shrink)


def batching(quick: bool) -> Iterable[Match]:
    """(d) Collating 128 ZINC graphs."""
    batches = 5 if quick else 50
    sides = (
        Side(OURS, "benchmarks.components:batching_graphtrial", {"batches": batches}),
        Side(FROM_LIST, "benchmarks.components:batching_pyg", {"batches": batches, "loader": False}),
        Side(DATA_LOADER, "benchmarks.components:batching_pyg", {"batches": batches, "loader": True}),
    )
    yield Match("batching", sides, 2 if quick else 9, scale=1 / batches)


def encoding(quick: bool) -> Iterable[Match]:
    """(e) Laplacian encodings of ZINC-12k, extrapolated from a subset."""
    graphs = 200 if quick else 1500
    sides = (
        Side(OURS, "benchmarks.components:encoding_graphtrial", {"graphs": graphs}),
        Side(PYG, "benchmarks.components:encoding_pyg", {"graphs": graphs}),
    )
    yield Match("encoding", sides, 1 if quick else 3, scale=ZINC_GRAPHS / graphs)


def encodings(quick: bool) -> Iterable[Match]:
    """Every encoding of the 12,000 graphs of ZINC, and the pair features of models on node pairs."""
    graphs, rounds = (200, 1) if quick else (ZINC_GRAPHS, 3)
    for text in ENCODINGS:
        sides = [Side(OURS, "benchmarks.components:any_encoding", {"encoding": text, "graphs": graphs})]
        if text == f"random-walk:{WALK_STEPS}":
            sides.append(Side(PYG, "benchmarks.components:random_walks_pyg", {"graphs": graphs}))
        yield Match(f"encodings/{text}", tuple(sides), rounds, scale=ZINC_GRAPHS / graphs)
    for relation in PAIRS:
        side = Side(OURS, "benchmarks.components:node_pairs", {"relation": relation, "graphs": graphs})
        yield Match(f"encodings/{relation}", (side,), rounds, scale=ZINC_GRAPHS / graphs)


def start(quick: bool) -> Iterable[Match]:
    """(f) From the command to the end of its first training step, and commands that only tell something."""
    sides = (
        Side(OURS, "benchmarks.first_step:command", {"dataset": "zinc", "width": 145}),
        Side("import torch", "benchmarks.first_step:imports", {"modules": ["torch"]}),
        Side("import torch_geometric", "benchmarks.first_step:imports", {"modules": ["torch", "torch_geometric.nn"]}),
    )
    yield Match("start", sides[:2] if quick else sides, 1 if quick else 5)
    for words in TOLD[:2] if quick else TOLD:
        side = Side(OURS, "benchmarks.first_step:help_command", {"words": words.split()})
        yield Match(f"start/{words}", (side,), 1 if quick else 5)


def machine(quick: bool) -> Iterable[Match]:
    """Whole machine: several seeds of GCN on ZINC, with validation and test."""
    work = {"model": "gcn", "seeds": 1 if quick else 4, "epochs": 1 if quick else 3}
    sides = (
        Side(OURS, "benchmarks.training:machine_graphtrial", work),
        Side(PYG, "benchmarks.training:machine_pyg", work),
    )
    yield Match("machine/gcn", sides, 1 if quick else 2)


def dense(quick: bool) -> Iterable[Match]:
    """Rank-2 models against a loop over single graphs: a training epoch on ZINC, extrapolated from some batches."""
    graphs, rounds = (32, 1) if quick else (8 * BATCH, 5)
    for entry in DENSE:
        work = {"model": entry.name, "graphs": graphs}
        ours = Side(OURS, "benchmarks.training:graphtrial", {"workload": "zinc", **work})
        by_fours = Side(BY_FOURS, "benchmarks.training:graphtrial", {"workload": "zinc", "batch": 4, **work})
        loop = Side(ONE_BY_ONE, "benchmarks.dense:one_at_a_time", work)
        every_core = Side(OURS, "benchmarks.dense:every_core", work)
        scale = EPOCH_GRAPHS / graphs
        yield Match(f"dense/{entry.name}", (ours, by_fours, loop), rounds, scale)
        yield Match(f"dense/{entry.name} on every core", (every_core, loop), rounds, scale)


def all_cores(quick: bool) -> Iterable[Match]:
    """One trial with a thread on every core, beside one thread and PyG with all threads."""
    for workload, model in (("zinc", "gcn"), ("pattern", "gcn")) if quick else ONE_TRIAL:
        heavy = workload == "pattern" and model in HEAVY
        graphs = 1 if workload == "wiki" else (16 if quick else BATCH) if workload == "pattern" else 4 * BATCH
        rounds = 1 if quick else 3 if heavy else 5
        batch = min(graphs, BATCH) if workload == "pattern" else BATCH
        work = {"workload": workload, "model": model, "graphs": graphs, "batch": batch}
        every = {**work, "every_core": True}
        theirs = (
            Side(ONE_BY_ONE, "benchmarks.dense:one_at_a_time", {"model": model, "graphs": graphs, "every_core": True})
            if model == "3wl-gnn"
            else Side(PYG, "benchmarks.training:pyg", every)
        )
        sides = (
            Side(OURS, "benchmarks.training:graphtrial", every),
            Side(ONE_THREAD, "benchmarks.training:graphtrial", work),
            theirs,
        )
        scale = 1.0 if workload == "wiki" else EPOCH_GRAPHS / graphs
        yield Match(f"cores/{workload} {model}", sides, rounds, scale, heavy and not quick, WARM_UPS)


def scaling(quick: bool) -> Iterable[Match]:
    """GraphTrial on synthetic graphs: 10 and 100 times the graphs, or the edges per graph."""
    if quick:
        yield _growth("molecules, graphs x1", 1, "molecules", 100, BATCH)
        yield _growth("molecules, graphs x10", 1, "molecules", 1000, BATCH)
        return
    for times in (1, 10, 100):
        rounds = 2 if times == 100 else 4
        yield _growth(f"molecules, graphs x{times}", rounds, "molecules", 300 * times, BATCH)
        yield _growth(f"molecules, edges x{times}", rounds, "molecules", 160, 32, nodes=23 * times)
        yield _growth(f"SBM, graphs x{times}", rounds, "pattern", 32 * times, 32)
        yield _growth(f"SBM, edges x{times}", rounds, "pattern", 320, 32, density=0.0094 * times)


SECTIONS: dict[str, Callable[[bool], Iterable[Match]]] = {
    "zinc": zinc,
    "pattern": pattern,
    "wiki": wiki,
    "batching": batching,
    "encoding": encoding,
    "encodings": encodings,
    "start": start,
    "store": store.matches,
    "trials": trials.matches,
    "machine": machine,
    "cores": all_cores,
    "dense": dense,
    "small": small.matches,
    "gps": gps.matches,
    "modern": modern.matches,
    "splits": splits.matches,
    "kernels": kernels.matches,
    "scaling": scaling,
}


def chosen(only: Iterable[str], quick: bool) -> list[Match]:
    """Return the matches of these sections (`zinc`) or of these names (`zinc/gcn`); all where none is given."""
    selected = list(only)
    by_name = {match.name: match for section in SECTIONS.values() for match in section(quick)}
    unknown = [name for name in selected if name not in SECTIONS and name not in by_name]
    if unknown:
        raise SystemExit(f"benchmarks: no workload called {unknown[0]!r}; there are {', '.join(SECTIONS)}, or one of "
                         f"{', '.join(by_name)}")  # fmt: skip
    return [m for name, m in by_name.items() if not selected or name in selected or name.split("/")[0] in selected]


def _training(
    workload: str, model: str, graphs: int, rounds: int, *, alone: bool = False, all_sides: bool, **arguments: Any
) -> Match:
    work = {"workload": workload, "model": model, "graphs": graphs, **arguments}
    sides = [
        Side(OURS, "benchmarks.training:graphtrial", work),
        Side(PYG, "benchmarks.training:pyg", work),
    ]
    if all_sides:
        sides.append(Side(TUNED, "benchmarks.training:pyg", work, ALLOCATOR))
    if all_sides and workload != "wiki":
        sides.append(Side(PRODUCTS, "benchmarks.roofline:products", work))
    scale = 1.0 if workload == "wiki" else EPOCH_GRAPHS / graphs
    return Match(f"{workload}/{model}", tuple(sides), rounds, scale, alone, WARM_UPS)


def _growth(name: str, rounds: int, workload: str, graphs: int, batch: int, **size: Any) -> Match:
    work = {"workload": workload, "model": "gcn", "graphs": graphs, "batch": batch, **size}
    return Match(f"scaling/{name}", (Side(OURS, "benchmarks.training:graphtrial", work),), rounds)
