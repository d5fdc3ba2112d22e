"""Random-walk return probabilities against NetworkX, NumPy and PyG."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from tests.helpers.samples import DEGENERATE, graph_set, plain_graphs, random_graphs, skip_links
from torch_geometric.transforms import AddRandomWalkPE

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.spec import Component
from graphtrial.encodings import ENCODINGS, return_probabilities
from graphtrial.encodings.random_walk import RandomWalkPE
from graphtrial.graphs import GraphSet, from_networkx, to_pyg

SETS: dict[str, GraphSet] = {
    "degenerate": graph_set(DEGENERATE),
    "undirected": graph_set(random_graphs(20, seed=0, undirected=True)),
    "directed": graph_set(random_graphs(20, seed=1)),
    "skip links": skip_links([2, 16]),
    "in parts": from_networkx([nx.disjoint_union(nx.cycle_graph(4), nx.path_graph(50)), nx.empty_graph(3)]),
}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("k", [1, 2, 9])
def test_values_match_diagonals_of_walk_matrix_powers(name: str, k: int) -> None:
    graphs = SETS[name]
    batched = np.split(RandomWalkPE(k).compute(graphs), graphs.node_ptr[1:-1])
    for graph, ours in enumerate(batched):
        nodes = int(graphs.node_counts[graph])
        walk = np.zeros((nodes, nodes))
        for source, target in graphs.edge_index[:, graphs.edge_ptr[graph] : graphs.edge_ptr[graph + 1]].T:
            walk[source, target] += 1
        walk /= np.maximum(walk.sum(axis=1, keepdims=True), 1)
        powers = [np.linalg.matrix_power(walk, step).diagonal() for step in range(1, k + 1)]
        np.testing.assert_allclose(ours, np.stack(powers, axis=1), atol=1e-7)


def test_numbers_match_pyg() -> None:
    graphs = from_networkx([*plain_graphs(5, seed=3), nx.karate_club_graph()])
    batched = np.split(RandomWalkPE(6).compute(graphs), graphs.node_ptr[1:-1])
    transform = AddRandomWalkPE(6, attr_name="walk")
    for item, ours in zip(to_pyg(graphs), batched, strict=True):
        np.testing.assert_allclose(ours, transform(item).walk.numpy(), atol=1e-6)


def test_chunked_walks_match() -> None:
    ring = nx.cycle_graph(3 * return_probabilities.LANES + 5)
    values = RandomWalkPE(4).compute(from_networkx([ring]))
    np.testing.assert_allclose(values, np.tile([0, 1 / 2, 0, 3 / 8], (len(ring), 1)), atol=1e-7)


def test_cycles_of_different_length_are_distinguished() -> None:
    shorter, longer = (RandomWalkPE(7).compute(from_networkx([nx.cycle_graph(n)]))[0] for n in (7, 8))
    np.testing.assert_allclose(shorter[:6], longer[:6], atol=1e-7)
    assert shorter[6] == pytest.approx(2 / 2**7)
    assert longer[6] == 0


@pytest.mark.parametrize("k", [0, -1, 2.5, "8", True, None])
def test_invalid_arguments_raise(k: object) -> None:
    with pytest.raises(GraphTrialError, match="k of RandomWalkPE must be an integer from 1"):
        RandomWalkPE(k)  # type: ignore[arg-type]


def test_first_positional_argument_is_the_number_of_steps() -> None:
    component = Component.parse("random-walk:16", ENCODINGS.get)
    assert ENCODINGS.get(component.name)(**component.arguments).width == 16
