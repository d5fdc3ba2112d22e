"""Complete graphs and graphs with tokens have the structure that a batch of the same edges has."""

from __future__ import annotations

import torch
from tests.helpers.layers import directed
from tests.helpers.samples import Graph, batch_of

from graphtrial.graphs import GraphBatch
from graphtrial.graphs.pairs.complete import add_tokens, complete_graph, pair_index


def same_structure(graph: GraphBatch, expected: GraphBatch) -> None:
    for name, value in expected._structure.items():
        assert torch.equal(graph._structure[name], value), name


@directed
def test_complete_edges_are_all_ordered_pairs(given: list[Graph]) -> None:
    graph = batch_of(given)
    full = complete_graph(graph)
    same_structure(full, batch_of([(n, [(i, j) for i in range(n) for j in range(n)]) for n, _ in given]))
    source, target = full.edge_index
    assert torch.equal(pair_index(graph, target, source), torch.arange(full.num_edges))


@directed
def test_graph_token_is_the_first_node_without_edges(given: list[Graph]) -> None:
    graph = batch_of(given)
    tokens = add_tokens(graph)
    same_structure(tokens.graph, batch_of([(n + 1, [(u + 1, v + 1) for u, v in edges]) for n, edges in given]))
    assert torch.equal(tokens.tokens, tokens.graph.ptr[:-1])
    assert sorted([*tokens.tokens.tolist(), *tokens.nodes.tolist()]) == list(range(tokens.graph.num_nodes))
