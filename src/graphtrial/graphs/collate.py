"""The loop that joins graphs into one, compiled."""

from __future__ import annotations

from graphtrial.core.compiler import Array, compiled


@compiled
def join(
    ids: Array,
    node_ptr: Array,
    edge_ptr: Array,
    edge_index: Array,
    in_degree: Array,
    out_degree: Array,
    out_order: Array,
    ptr: Array,
    of_nodes: Array,
    of_edges: Array,
) -> None:
    """Fill the structure of the batch of the graphs `ids`.

    of_nodes [6, nodes + 1]: row in the set, graph in the batch, in-degree, out-degree, in-pointer, out-pointer;
    of_edges [4, edges]: row in the set, source, target, position in (source, target) order.
    """
    node = edge = 0
    ptr[0] = of_nodes[4, 0] = of_nodes[5, 0] = 0
    for graph in range(len(ids)):
        first, last = node_ptr[ids[graph]], node_ptr[ids[graph] + 1]
        for k in range(first, last):
            at = node + k - first
            of_nodes[0, at] = k
            of_nodes[1, at] = graph
            of_nodes[2, at] = in_degree[k]
            of_nodes[3, at] = out_degree[k]
            of_nodes[4, at + 1] = of_nodes[4, at] + in_degree[k]
            of_nodes[5, at + 1] = of_nodes[5, at] + out_degree[k]
        begin, end = edge_ptr[ids[graph]], edge_ptr[ids[graph] + 1]
        for k in range(begin, end):
            at = edge + k - begin
            of_edges[0, at] = k
            of_edges[1, at] = edge_index[0, k] + node
            of_edges[2, at] = edge_index[1, k] + node
            of_edges[3, at] = out_order[k] + edge
        node += last - first
        edge += end - begin
        ptr[graph + 1] = node
