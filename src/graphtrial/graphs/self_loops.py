"""Batches with other edges; self-loops, as `torch_geometric.utils.add_remaining_self_loops` adds them."""

from __future__ import annotations

import torch
from torch import Tensor

from graphtrial.graphs.batch import GraphBatch


def add_remaining_self_loops(graph: GraphBatch) -> GraphBatch:
    """Add a self-loop to every node that has none; new loops have `edge_attr` 0.

    The structure is cached with the batch; all other columns are shared.
    """
    bare, order = graph.cached("self-loops", lambda: _structure_with_loops(graph))
    columns = dict(graph.columns)
    if graph.edge_attr is not None:
        new = graph.edge_attr.new_zeros((len(order) - graph.num_edges, *graph.edge_attr.shape[1:]))
        columns["edge_attr"] = torch.cat([graph.edge_attr, new]).index_select(0, order)
    return bare.with_columns(columns)


def _structure_with_loops(graph: GraphBatch) -> tuple[GraphBatch, Tensor]:
    """Return the graph with self-loops, and the permutation that sorts `[old edges, new loops]` into its edges."""
    source, target = graph.edge_index
    has_loop = torch.zeros(graph.num_nodes, dtype=torch.bool, device=source.device)
    has_loop[source[source == target]] = True
    new = (~has_loop).nonzero().flatten()
    return replace_edges(graph, torch.cat([source, new]), torch.cat([target, new]))


def replace_edges(graph: GraphBatch, source: Tensor, target: Tensor) -> tuple[GraphBatch, Tensor]:
    """Return the batch with these edges and without columns, and the permutation that sorts them into its edges."""
    order = torch.argsort(target * graph.num_nodes + source, stable=True)
    source, target = source[order], target[order]
    in_degree, out_degree = (
        torch.zeros_like(graph.in_degree).index_add_(0, ends, torch.ones_like(ends)) for ends in (target, source)
    )
    structure = {
        "edge_index": torch.stack([source, target]),
        "batch": graph.batch,
        "ptr": graph.ptr,
        "in_ptr": to_pointers(in_degree),
        "out_ptr": to_pointers(out_degree),
        "out_order": torch.argsort(source * graph.num_nodes + target, stable=True),
        "in_degree": in_degree,
        "out_degree": out_degree,
    }
    return GraphBatch(structure, {}, graph.num_graphs, graph.host_ptr), order


def to_pointers(counts: Tensor) -> Tensor:
    """Return the exclusive prefix sum of `counts` and their total, [counts + 1]."""
    return torch.cat([counts.new_zeros(1), counts.cumsum(0)])
