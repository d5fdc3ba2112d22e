"""Compiled collate function: graphs of a set -> structure of one batch."""

from __future__ import annotations

from graphtrial.core.compiler import Array, compiled


@compiled
def collate(
    ids: Array,
    node_ptr: Array,
    edge_ptr: Array,
    edge_index: Array,
    in_degree: Array,
    out_degree: Array,
    out_order: Array,
    ptr: Array,
    node_table: Array,
    edge_table: Array,
) -> None:
    """Fill in the structure of the batch of the graphs `ids`.

    node_table [6, nodes + 1]: row in the set, graph in the batch, in-degree, out-degree, in-pointer, out-pointer;
    edge_table [4, edges]: row in the set, source, target, permutation into (source, target) order.
    """
    node = edge = 0
    ptr[0] = node_table[4, 0] = node_table[5, 0] = 0
    for graph in range(len(ids)):
        first, last = node_ptr[ids[graph]], node_ptr[ids[graph] + 1]
        for k in range(first, last):
            at = node + k - first
            node_table[0, at] = k
            node_table[1, at] = graph
            node_table[2, at] = in_degree[k]
            node_table[3, at] = out_degree[k]
            node_table[4, at + 1] = node_table[4, at] + in_degree[k]
            node_table[5, at + 1] = node_table[5, at] + out_degree[k]
        begin, end = edge_ptr[ids[graph]], edge_ptr[ids[graph] + 1]
        for k in range(begin, end):
            at = edge + k - begin
            edge_table[0, at] = k
            edge_table[1, at] = edge_index[0, k] + node
            edge_table[2, at] = edge_index[1, k] + node
            edge_table[3, at] = out_order[k] + edge
        node += last - first
        edge += end - begin
        ptr[graph + 1] = node
