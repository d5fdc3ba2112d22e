"""Heat-kernel diagonals against the matrix exponential of SciPy."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from scipy.linalg import expm
from tests.helpers.samples import plain_graphs

from graphtrial.core.errors import GraphTrialError
from graphtrial.encodings import spectrum
from graphtrial.encodings.heat_kernel import HeatKernelSE
from graphtrial.graphs import from_networkx

GRAPHS = [
    *plain_graphs(4, seed=3),
    nx.disjoint_union(nx.cycle_graph(5), nx.path_graph(3)),
    nx.complete_graph(6),
    nx.empty_graph(3),
    nx.empty_graph(1),
    nx.path_graph(2),
]


def test_diagonals_match_the_matrix_exponential() -> None:
    k = 7
    graphs = from_networkx(GRAPHS)
    for graph, ours in zip(GRAPHS, np.split(HeatKernelSE(k).compute(graphs), graphs.node_ptr[1:-1]), strict=True):
        laplacian = nx.laplacian_matrix(graph).toarray().astype(float)
        component = {node: len(nodes) for nodes in nx.connected_components(graph) for node in nodes}
        limit = np.array([1 / component[node] for node in graph])
        expected = [expm(-time * laplacian).diagonal() - limit for time in range(1, k + 1)]
        np.testing.assert_allclose(ours, np.stack(expected, axis=1), atol=1e-6)


def test_large_graphs_raise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spectrum, "MOST_DENSE_NODES", 10)
    with pytest.raises(GraphTrialError, match="heat-kernel encodings are for graphs of up to 10 nodes"):
        HeatKernelSE(2).compute(from_networkx(GRAPHS))
