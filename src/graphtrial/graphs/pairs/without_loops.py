"""Complete graphs without self-loops on the nodes of a batch, for attention between all nodes of a graph."""

from __future__ import annotations

import torch

from graphtrial.graphs.batch import GraphBatch
from graphtrial.graphs.pairs.complete import complete_graph
from graphtrial.graphs.self_loops import to_pointers


def complete_without_loops(graph: GraphBatch) -> GraphBatch:
    """Return the batch in which every node has an edge from every other node of its graph; cached, without columns."""
    return graph.cached("complete graph without self-loops", lambda: _without_loops(complete_graph(graph)))


def _without_loops(full: GraphBatch) -> GraphBatch:
    source, target = full.edge_index
    edge_index = full.edge_index[:, source != target]
    degree = full.in_degree - 1
    pointers = to_pointers(degree)
    source, target = edge_index
    structure = {
        "edge_index": edge_index,
        "batch": full.batch,
        "ptr": full.ptr,
        "in_ptr": pointers,
        "out_ptr": pointers,
        "out_order": torch.argsort(source * max(1, full.num_nodes) + target, stable=True),
        "in_degree": degree,
        "out_degree": degree,
    }
    return GraphBatch(structure, {}, full.num_graphs, full.host_ptr)
