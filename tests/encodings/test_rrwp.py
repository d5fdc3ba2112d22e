"""Node part of RRWP against powers of the walk."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers.samples import DEGENERATE, graph_set, random_graphs

from graphtrial.encodings.rrwp import RRWP


@pytest.mark.parametrize("k", [1, 2, 6])
def test_values_match_diagonals_of_walk_matrix_powers(k: int) -> None:
    for graphs in (graph_set(DEGENERATE), graph_set(random_graphs(10, seed=2))):
        batched = np.split(RRWP(k).compute(graphs), graphs.node_ptr[1:-1])
        for graph, ours in enumerate(batched):
            nodes = int(graphs.node_counts[graph])
            walk = np.zeros((nodes, nodes))
            for source, target in graphs.edge_index[:, graphs.edge_ptr[graph] : graphs.edge_ptr[graph + 1]].T:
                walk[source, target] += 1
            walk /= np.maximum(walk.sum(axis=1, keepdims=True), 1)
            powers = [np.linalg.matrix_power(walk, step).diagonal() for step in range(k)]
            np.testing.assert_allclose(ours, np.stack(powers, axis=1), atol=1e-7)
