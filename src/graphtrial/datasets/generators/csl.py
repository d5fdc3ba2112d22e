"""Generator of circular skip link (CSL) graphs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets.csl import circulant
from graphtrial.datasets.generators.draws import Draws
from graphtrial.graphs import Column, GraphSet


def skip_link_graphs(nodes: int, skips: Sequence[int], copies: int, seed: int) -> GraphSet:
    """Return `copies` randomly relabelled circulant graphs C(nodes; 1, R) for each skip length R, the class."""
    for skip in skips:
        if not 2 <= skip < nodes / 2:
            raise GraphTrialError(f"a skip on {nodes} nodes goes from 2 to {(nodes - 1) // 2}; {skip} does not")
    for one, other in combinations(skips, 2):
        if one == other or one * other % nodes in (1, nodes - 1):
            raise GraphTrialError(f"skips {one} and {other} on {nodes} nodes give the same graph, so leave one out")
    draws, graphs = Draws(seed, 0), len(skips) * copies
    edges = [draws.permutation(nodes)[circulant(skip, nodes)] for skip in skips for _ in range(copies)]
    columns = {
        "x": Column(np.zeros(graphs * nodes, np.uint8), "node", "constant", types=1),
        "edge_attr": Column(np.zeros(graphs * 4 * nodes, np.uint8), "edge", "constant", types=1),
        "y": Column(np.repeat(np.arange(len(skips)), copies), "graph", "class", types=len(skips)),
    }
    ends = np.concatenate([np.zeros((2, 0), np.int64), *edges], axis=1)
    return GraphSet.build([nodes] * graphs, [4 * nodes] * graphs, ends, columns)
