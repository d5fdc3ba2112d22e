"""Random walks between pairs, against powers of the transition matrix of each graph."""

from __future__ import annotations

import numpy as np
import torch
from tests.helpers.layers import directed
from tests.helpers.samples import Graph, batch_of

from graphtrial.graphs.pairs.random_walks import edge_walks, random_walk_pairs


def powers(nodes: int, edges: list[tuple[int, int]], last: int) -> np.ndarray:
    step = np.zeros((nodes, nodes))
    for u, v in edges:
        step[u, v] += 1 / sum(source == u for source, _ in edges)
    return np.stack([np.linalg.matrix_power(step, k) for k in range(last + 1)], axis=-1)


@directed
def test_pairs_and_edges(given: list[Graph]) -> None:
    graph = batch_of(given)
    walks = [powers(nodes, edges, 4) for nodes, edges in given]
    expected = torch.from_numpy(np.concatenate([walk.reshape(-1, 5) for walk in walks]))
    torch.testing.assert_close(random_walk_pairs(graph, 0, 4, torch.float64), expected)
    torch.testing.assert_close(random_walk_pairs(graph, 2, 3, torch.float64), expected[:, 2:4])
    along = edge_walks(graph, 4, torch.float64)
    first = graph.ptr.tolist()
    for edge, (source, target) in enumerate(graph.edge_index.T.tolist()):
        owner = int(graph.batch[source])
        row = walks[owner][source - first[owner], target - first[owner], 1:]
        np.testing.assert_allclose(along[edge], row, atol=1e-12)
