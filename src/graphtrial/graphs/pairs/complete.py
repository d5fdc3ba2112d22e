"""All ordered pairs of nodes of each graph: complete graphs with self-loops, and graphs with a token node."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from graphtrial.graphs.batch import GraphBatch
from graphtrial.graphs.pairs.layout import check_pairs
from graphtrial.graphs.self_loops import to_pointers

BYTES_OF_PAIR = 48
"""Memory of a pair in a complete graph and while it is made: six integers."""


def complete_graph(graph: GraphBatch) -> GraphBatch:
    """Return the batch in which every node has an edge from every node of its graph, itself included; cached.

    Edges are sorted by (target, source), so the pairs of a graph of n nodes are the rows of an n x n matrix
    [target, source], one graph after the other. Without columns.
    """
    return graph.cached("complete graph", lambda: _complete(graph))


def pair_index(graph: GraphBatch, row: Tensor, column: Tensor) -> Tensor:
    """Return the position of pairs of nodes among all pairs: of the edges of `complete_graph` from column to row."""
    sizes = graph.ptr.diff()
    start = sizes.square().cumsum(0) - sizes.square()
    owner = graph.batch[row]
    return start[owner] + (row - graph.ptr[owner]) * sizes[owner] + column - graph.ptr[owner]


def _complete(graph: GraphBatch) -> GraphBatch:
    check_pairs(graph, BYTES_OF_PAIR)
    sizes = graph.ptr.diff()
    degree = sizes.index_select(0, graph.batch)
    target = torch.repeat_interleave(torch.arange(graph.num_nodes, device=degree.device), degree)
    in_ptr = to_pointers(degree)
    column = torch.arange(len(target), device=target.device) - in_ptr[target]
    source = graph.ptr[graph.batch[target]] + column
    # the pair (source, target) of the transposed matrix: the k-th out-edge of node j goes to node k of its graph
    structure = {
        "edge_index": torch.stack([source, target]),
        "batch": graph.batch,
        "ptr": graph.ptr,
        "in_ptr": in_ptr,
        "out_ptr": in_ptr,
        "out_order": pair_index(graph, source, target),
        "in_degree": degree,
        "out_degree": degree,
    }
    return GraphBatch(structure, {}, graph.num_graphs, graph.host_ptr)


@dataclass(frozen=True)
class TokenGraph:
    """A batch with one more node per graph, its first and without edges; the rows of nodes and tokens in it."""

    graph: GraphBatch
    nodes: Tensor
    tokens: Tensor


def add_tokens(graph: GraphBatch) -> TokenGraph:
    """Return the batch with a token node in front of the nodes of each graph; cached. Without columns."""
    return graph.cached("token graph", lambda: _with_tokens(graph))


def _with_tokens(graph: GraphBatch) -> TokenGraph:
    graphs = torch.arange(graph.num_graphs, device=graph.batch.device)
    nodes = torch.arange(graph.num_nodes, device=graph.batch.device) + graph.batch + 1
    tokens = graph.ptr[:-1] + graphs
    total = graph.num_nodes + graph.num_graphs

    def spread(values: Tensor) -> Tensor:
        return values.new_zeros(total).index_copy(0, nodes, values)

    in_degree, out_degree = spread(graph.in_degree), spread(graph.out_degree)
    structure = {
        "edge_index": nodes[graph.edge_index],
        "batch": spread(graph.batch).index_copy(0, tokens, graphs),
        "ptr": torch.cat([tokens, tokens.new_full((1,), total)]),
        "in_ptr": to_pointers(in_degree),
        "out_ptr": to_pointers(out_degree),
        "out_order": graph.out_order,
        "in_degree": in_degree,
        "out_degree": out_degree,
    }
    host_ptr = graph.host_ptr + torch.arange(graph.num_graphs + 1)
    return TokenGraph(GraphBatch(structure, {}, graph.num_graphs, host_ptr), nodes, tokens)
