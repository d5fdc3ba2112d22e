"""Contestants for graph kernels: GraphTrial against GraKeL, and scaling with the number of graphs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.machine import pin_to_one_core, reset_peak
from benchmarks.match import OURS, Match, Side
from benchmarks.protocol import SkipError, Tick

GRAKEL = "GraKeL"
BESIDE: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("wl", "nci1", {"h": 5}),
    ("shortest-path", "enzymes", {}),
    ("shortest-path", "proteins", {}),
)
ALONE = ("dd", "reddit-binary")
GROWING = "nci1"


def matches(quick: bool) -> Iterable[Match]:
    """Yield comparisons with GraKeL, datasets of large graphs, and scaling workloads."""
    rounds = 1 if quick else 3
    for kernel, dataset, settings in BESIDE:
        work = {"kernel": kernel, "dataset": dataset, "settings": settings, "graphs": 100 if quick else 0}
        sides = (Side(OURS, "benchmarks.kernels:graphtrial", work), Side(GRAKEL, "benchmarks.kernels:grakel", work))
        yield Match(f"kernels/{kernel} on {dataset}", sides, rounds)
    for dataset in ALONE:
        work = {"kernel": "shortest-path", "dataset": dataset, "settings": {}, "graphs": 50 if quick else 0}
        yield Match(
            f"kernels/shortest-path on {dataset}", (Side(OURS, "benchmarks.kernels:graphtrial", work),), min(rounds, 2)
        )
    for times in (1, 10):
        work = {"kernel": "wl", "dataset": GROWING, "settings": {"h": 5, "output": "features"}, "graphs": 400 * times}
        alone = (Side(OURS, "benchmarks.kernels:graphtrial", work),)
        yield Match(f"kernels/wl features on {GROWING}, graphs x{times}", alone, rounds)


def graphtrial(
    ready: Callable[..., None], tick: Tick, kernel: str, dataset: str, settings: dict[str, Any], graphs: int
) -> None:
    """Compute a kernel on the first graphs of a dataset, or on all; the checksum is the sum of the result."""
    pin_to_one_core()
    from graphtrial.kernels import KERNELS

    ready()
    data = _graphs(dataset, graphs)
    reset_peak()
    while True:
        start = time.perf_counter()
        gram = KERNELS.get(kernel)(**settings).fit_transform(data)
        tick(time.perf_counter() - start, float(gram.sum()))


def grakel(
    ready: Callable[..., None], tick: Tick, kernel: str, dataset: str, settings: dict[str, Any], graphs: int
) -> None:
    """Compute the same by GraKeL; conversion to its dictionaries is not timed.

    Skipped if its Gram matrix differs from ours.
    """
    pin_to_one_core()
    try:
        library = import_module("grakel")
    except ImportError:
        raise SkipError("GraKeL is not installed") from None
    from graphtrial.kernels import KERNELS

    ready()
    data = _graphs(dataset, graphs)
    graph_dicts = [_dictionaries(data, number) for number in range(len(data))]
    expected = KERNELS.get(kernel)(**settings).fit_transform(data)
    reset_peak()
    while True:
        start = time.perf_counter()
        if kernel == "wl":
            theirs = library.WeisfeilerLehman(settings["h"], base_graph_kernel=library.VertexHistogram, normalize=True)
        else:
            theirs = library.ShortestPath(normalize=True)
        gram = theirs.fit_transform(graph_dicts)
        seconds = time.perf_counter() - start
        if not np.allclose(gram, expected, atol=1e-9):
            raise SkipError("its Gram matrix differs from ours")
        tick(seconds, float(gram.sum()))


def _graphs(dataset: str, graphs: int) -> Any:
    from graphtrial.core.errors import GraphTrialError
    from graphtrial.datasets import load

    try:
        data = load(dataset).graphs
    except GraphTrialError as error:
        raise SkipError(str(error)) from None
    return data[:graphs] if graphs else data


def _dictionaries(data: Any, number: int) -> list[Any]:
    """Return one graph in GraKeL's format: weighted edges and node labels."""
    one = data.subset([number])
    labels = one.column("node_label").values
    edges = {(int(u), int(v)): 1.0 for u, v in one.edge_index.T}
    return [edges, {node: int(label) for node, label in enumerate(labels)}]
