"""Circular skip link graphs."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.datasets.base import DATASETS, DatasetSpec, Source, Split
from graphtrial.datasets.statistics import Statistics
from graphtrial.graphs import Column, GraphSet
from graphtrial.tasks import GraphClassification

NODES = 41
SKIPS = (2, 3, 4, 5, 6, 9, 11, 12, 13, 16)
COPIES = 15
FOLDS = (
    "v..v.....tt..vt.vv.v...t..tt....vv.t..vtt......t..t.vv..vt..v...vvt...tt..."
    "t.v.vv.tt.......t.tt.v.v...v..vvt..tv.....t.........v.vtvtt.vt...t.tv...v..",
    ".t..tt.v.....vv.t..v.t..t.vv....ttv...t.vv....tvt...t.v..v....t.v...v..vtt."
    "..v.tt....tv.v.v......tv..tt.v.v.ttvt.v.......v.t..vt.t...v..v......tv.vt.t",
    "v.v..v.t...tt....t..t....tv.vv.v..t....v.v.ttt...v..vvt....t....tt.vvt.v..."
    ".tt....v..vt.v.v....t...ttv.v.t.....v.v..tvt..vv.t.t.t.v.......ttv.v.t..v..",
    "t.t.v......v.tvt.v.t..tv....v..t....t.v.vtv.......v.vv.tt.t..t.vv..tt..v..."
    "v..t..t....v.tv..tv..t..v.v..tvt......t.t.v.v.tv..t...v.tv....tv..v...ttv..",
    "..vtv.t.t...v.....tv..v....vtttv.....t.v..tv.....tvt.tv....vt..t.v...v.v..t"
    "v.....v..t.vt.tt...v.v.t....tv.......t.tv.vvttvt...v.....v.tt.v..vt....v.t.",
)
"""Published folds of benchmarking-gnns (Dwivedi et al., MIT licence): one row per fold, one character per graph
in class order, 15 graphs per class; `.` train, `v` validation, `t` test."""


@DATASETS.register("csl", title="CSL")
class CSL(DatasetSpec):
    r"""Circular skip links: ten classes of 4-regular graphs, which 1-WL message passing cannot distinguish.

    Class c has 15 permuted copies of the circulant graph :math:`C_{41}(1, R_c)`: node i is joined to
    :math:`i \pm 1` and :math:`i \pm R_c` modulo 41, R = 2, 3, 4, 5, 6, 9, 11, 12, 13, 16 (Murphy et al. 2019).

    150 graphs, 41 nodes, 164 directed edges each; x and edge_attr are 0 everywhere; y: class 0 to 9.
    """

    name = "csl"
    domain = "synthetic"
    task = GraphClassification(classes=len(SKIPS), metric="accuracy")
    licence = "generated here; folds from benchmarking-gnns, MIT"
    paper = "Murphy et al. 2019 (arXiv:1903.02541); Dwivedi et al. (arXiv:2003.00982)"
    published = Statistics(
        graphs=150, nodes=41.0, edges=164.0, node_types=1, edge_types=1, classes=10, split=(90, 30, 30)
    )
    sources = (Source("generated", "Generated locally from the definition; the relabellings are our own."),)
    notes = (
        "The published relabellings were drawn without a seed. Ours sort nodes by a SHA-256 of skip, copy and node, "
        "the same on every machine. Up to isomorphism, which is all a class is, they are the published graphs.",
        "The published file has a self-loop at every node, which the benchmark removes; there are none here.",
    )
    encoding_mode = "replace"
    splits_stratified = True

    def parse(self, source: Source, raw: Mapping[str, Path]) -> GraphSet:
        edges = [number[circulant(skip)] for skip in SKIPS for number in relabellings(skip)]
        graphs = len(edges)
        columns = {
            "x": Column(np.zeros(graphs * NODES, np.uint8), "node", "constant", types=1),
            "edge_attr": Column(np.zeros(graphs * 4 * NODES, np.uint8), "edge", "constant", types=1),
            "y": Column(np.repeat(np.arange(len(SKIPS), dtype=np.uint8), COPIES), "graph", "class", types=len(SKIPS)),
        }
        return GraphSet.build([NODES] * graphs, [4 * NODES] * graphs, np.concatenate(edges, axis=1), columns)

    def split(self, graphs: GraphSet, source: Source, raw: Mapping[str, Path]) -> Sequence[Split]:
        folds = [np.array(list(fold)) for fold in FOLDS]
        return [Split(*(np.flatnonzero(fold == part) for part in ".vt")) for fold in folds]


def circulant(skip: int, nodes: int = NODES) -> npt.NDArray[np.int64]:
    """Return the directed edges [2, 4 nodes] of the circulant graph with steps 1 and `skip`."""
    node = np.arange(nodes)
    ends = [(node, (node + step) % nodes) for step in (1, -1, skip, -skip)]
    return np.concatenate([np.stack(pair) for pair in ends], axis=1)


def relabellings(skip: int) -> list[npt.NDArray[Any]]:
    """Return 15 permutations of the nodes, independent of any random number generator."""
    orders = []
    for copy in range(COPIES):
        keys = [hashlib.sha256(f"csl/{skip}/{copy}/{node}".encode()).digest() for node in range(NODES)]
        orders.append(np.array(sorted(range(NODES), key=keys.__getitem__)))
    return orders
