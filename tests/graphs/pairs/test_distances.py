"""Shortest-path distances against NetworkX."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import torch
from tests.helpers.samples import DEGENERATE, graph_set, random_graphs, whole

from graphtrial.graphs import GraphSet, from_networkx, to_networkx
from graphtrial.graphs.pairs import distances, pair_layout, shortest_path_distances

SETS: dict[str, GraphSet] = {
    "degenerate": graph_set(DEGENERATE),
    "directed": graph_set(random_graphs(30, seed=0, max_nodes=20)),
    "undirected": from_networkx([nx.path_graph(40), nx.gnp_random_graph(50, 0.05, seed=1), nx.cycle_graph(8)]),
    "no graphs": graph_set([]),
}


@pytest.mark.parametrize("graphs", SETS.values(), ids=SETS)
@pytest.mark.parametrize("cells", [distances.CELLS, 100])
def test_distances_match_networkx(graphs: GraphSet, cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distances, "CELLS", cells)
    batch = whole(graphs)
    ours = shortest_path_distances(batch)
    assert ours.dtype == torch.int64
    parts = np.split(ours.numpy(), pair_layout(batch).ptr.numpy()[1:-1])
    for graph in range(len(graphs)):
        nodes = int(graphs.node_counts[graph])
        expected = np.full((nodes, nodes), -1)
        for source, lengths in nx.all_pairs_shortest_path_length(to_networkx(graphs, graph)):
            for target, length in lengths.items():
                expected[source, target] = length
        np.testing.assert_array_equal(parts[graph].reshape(nodes, nodes), expected)
