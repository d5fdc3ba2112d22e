"""Transfer of batches to a device: pinned and asynchronous, or once for a small dataset that stays there."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from graphtrial.graphs.batch import GraphBatch, column_tensor
from graphtrial.graphs.graphset import GraphSet
from graphtrial.graphs.pointers import graph_ids

MAX_RESIDENT_BYTES = 1 << 30
"""Maximum size of the columns and structure of a dataset that stays on a device."""


def to_device(tensor: Tensor, device: torch.device) -> Tensor:
    """Copy a tensor of the host to a device; to a CUDA device from pinned memory, without waiting for it."""
    if device.type == "cuda" and tensor.device.type == "cpu":
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)


def is_small(graphs: GraphSet) -> bool:
    """Return whether a dataset is small enough to stay on the device."""
    tensors = sum(8 * array.size for array in graphs.structure.values())
    return tensors + sum(8 * column.values.size for column in graphs.columns.values()) <= MAX_RESIDENT_BYTES


class ResidentSet:
    """A dataset on a device, which collates its batches there: only the ids of a batch are copied.

    The sizes of graphs are known to the host, so that no batch waits for the device.
    """

    def __init__(self, graphs: GraphSet, device: torch.device) -> None:
        self.graphs = graphs
        self.device = device
        self.node_counts, self.edge_counts = np.asarray(graphs.node_counts), np.asarray(graphs.edge_counts)
        names = ("node_ptr", "edge_ptr", "edge_index", "in_degree", "out_degree", "out_order")
        arrays = (np.asarray(array, np.int64) for array in graphs.structure.values())
        tensors = (to_device(torch.from_numpy(np.array(array)), device) for array in arrays)
        self.structure = dict(zip(names, tensors, strict=True))
        self.columns = {
            name: (column.level, to_device(column_tensor(np.array(column.values)), device))
            for name, column in graphs.columns.items()
            if column.level != "pair"
        }

    def batch(self, ids: npt.ArrayLike) -> GraphBatch:
        """Collate the graphs with these indices, in this order, as `GraphBatch.from_set` does on the host."""
        index = graph_ids(ids, len(self.graphs))
        host_ptr = torch.from_numpy(np.concatenate([[0], np.cumsum(self.node_counts[index])]))
        edges, nodes = int(self.edge_counts[index].sum()), int(host_ptr[-1])
        graph = to_device(torch.from_numpy(index), self.device)
        own, ptr = self.structure, to_device(host_ptr, self.device)
        batch, node_rows = _rows(own["node_ptr"], graph, nodes)
        of_edge, edge_rows = _rows(own["edge_ptr"], graph, edges)
        first_edge = torch.cat([ptr.new_zeros(1), _counts(own["edge_ptr"], graph).cumsum(0)])
        in_degree, out_degree = own["in_degree"][node_rows], own["out_degree"][node_rows]
        structure = {
            "edge_index": own["edge_index"][:, edge_rows] + ptr[of_edge],
            "batch": batch,
            "ptr": ptr,
            "in_ptr": torch.cat([ptr.new_zeros(1), in_degree.cumsum(0)]),
            "out_ptr": torch.cat([ptr.new_zeros(1), out_degree.cumsum(0)]),
            "out_order": own["out_order"][edge_rows] + first_edge[of_edge],
            "in_degree": in_degree,
            "out_degree": out_degree,
        }
        rows = {"node": node_rows, "edge": edge_rows, "graph": graph}
        columns = {name: values.index_select(0, rows[level]) for name, (level, values) in self.columns.items()}
        return GraphBatch(structure, columns, len(index), host_ptr)


def _counts(ptr: Tensor, graph: Tensor) -> Tensor:
    return ptr[graph + 1] - ptr[graph]


def _rows(ptr: Tensor, graph: Tensor, total: int) -> tuple[Tensor, Tensor]:
    """Return, for each of the `total` rows of the graphs, its graph in the batch and its row in the set."""
    counts = _counts(ptr, graph)
    of_row = torch.repeat_interleave(torch.arange(len(graph), device=ptr.device), counts, output_size=total)
    shift = ptr[graph] - (counts.cumsum(0) - counts)
    return of_row, shift[of_row] + torch.arange(total, device=ptr.device)
