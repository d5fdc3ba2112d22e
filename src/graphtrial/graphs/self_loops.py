"""Graphs in which every node is its own neighbour."""

from __future__ import annotations

import torch
from torch import Tensor

from graphtrial.graphs.batch import GraphBatch


def with_self_loops(graph: GraphBatch) -> GraphBatch:
    """Return the batch with a loop at every node that had none; the edge features of a new loop are 0.

    The structure is made once per batch. Columns other than `edge_attr` are shared as they are.
    """
    bare, order = graph.remember("self-loops", lambda: _looped(graph))
    columns = dict(graph.columns)
    if graph.edge_attr is not None:
        new = graph.edge_attr.new_zeros((len(order) - graph.num_edges, *graph.edge_attr.shape[1:]))
        columns["edge_attr"] = torch.cat([graph.edge_attr, new]).index_select(0, order)
    return bare.with_columns(columns)


def _looped(graph: GraphBatch) -> tuple[GraphBatch, Tensor]:
    """Return the graph with loops, and where each of its edges stands in the list of old edges and then new loops."""
    source, target = graph.edge_index
    looped = torch.zeros(graph.num_nodes, dtype=torch.bool, device=source.device)
    looped[source[source == target]] = True
    new = (~looped).nonzero().flatten()
    source, target = torch.cat([source, new]), torch.cat([target, new])
    order = torch.argsort(target * graph.num_nodes + source, stable=True)
    source, target = source[order], target[order]
    in_degree = graph.in_degree + ~looped
    out_degree = graph.out_degree + ~looped
    structure = {
        "edge_index": torch.stack([source, target]),
        "batch": graph.batch,
        "ptr": graph.ptr,
        "in_ptr": _pointers(in_degree),
        "out_ptr": _pointers(out_degree),
        "out_order": torch.argsort(source * graph.num_nodes + target, stable=True),
        "in_degree": in_degree,
        "out_degree": out_degree,
    }
    return GraphBatch(structure, {}, graph.num_graphs), order


def _pointers(counts: Tensor) -> Tensor:
    return torch.cat([counts.new_zeros(1), counts.cumsum(0)])
