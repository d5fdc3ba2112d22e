"""Input of models on node pairs: normalised adjacency, node features on the diagonal, edge features off it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.lazy import lazy_property
from graphtrial.graphs import GraphBatch
from graphtrial.graphs.pairs.buckets import Bucket, Plan
from graphtrial.nn.encoder import encoding_values
from graphtrial.nn.shapes import Shapes

Featureless = Literal["zeros", "identity"]


@dataclass(frozen=True)
class Entries:
    """Sparse input of a bucket: the nonzero pairs, which are the diagonal and the edges.

    values [channels, entries] at the pairs `at` [entries] of the flattened bucket; all other pairs are 0, so that the
    first layer of a model is computed for the entries and for one zero pair instead of for all pairs.
    """

    bucket: Bucket
    at: Tensor
    values: Tensor

    @lazy_property
    def source(self) -> Tensor:
        """The first node of each pair, counted over the padded nodes of the bucket."""
        return self.at // self.bucket.size

    @lazy_property
    def target(self) -> Tensor:
        """The second node of each pair, counted in the same way."""
        size = self.bucket.size
        return self.at // (size * size) * size + self.at % size

    @lazy_property
    def transposed(self) -> Tensor:
        """The pair (j, i) of each pair (i, j)."""
        return self.target * self.bucket.size + self.source % self.bucket.size

    def dense(self) -> Tensor:
        """Return the whole input, [channels, graphs, size, size]."""
        bucket = self.bucket
        out = self.values.new_zeros(len(self.values), bucket.pairs)
        out[:, self.at] = self.values
        return out.view(-1, bucket.graphs, bucket.size, bucket.size)

    def node_sums(self, node: Tensor, values: Tensor) -> Tensor:
        """Return the sum of `values` over the entries of each node, [channels, graphs, size]."""
        bucket = self.bucket
        zeros = values.new_zeros(len(values), bucket.graphs * bucket.size)
        return zeros.index_add(1, node, values).view(-1, bucket.graphs, bucket.size)


class PairInput:
    r"""Reads the input of a batch; `channels` is their number, the f0 of the papers.

    Channel 0 is the adjacency A_ij / sqrt(d_i d_j) of edges i -> j, d the in-degrees, 0 where one of them is 0. Then
    come the node features, one channel for each type or number, then the numbers of a positional encoding, both on the
    diagonal; then, with `edge_features`, one channel for each edge type or number. Parallel edges add up. After
    Dwivedi et al. 2022 (arXiv:2003.00982), appendix B.2.1.

    Where all nodes are of one type, as on CSL, the released code writes the number of the type, 0, on the diagonal of
    its channel: `featureless` "zeros". With "identity" the type is one-hot there too, so the diagonal is 1.
    """

    def __init__(self, shapes: Shapes, *, edge_features: bool, featureless: Featureless = "zeros") -> None:
        shapes.require_one_category("a model on pairs")
        self.type_value = 0.0 if shapes.node_types == 1 and featureless == "zeros" else 1.0
        replaced = shapes.encoding_dim > 0 and shapes.encoding_replaces
        self.node_types = 0 if replaced else shapes.node_types
        self.node_dim = 0 if replaced else shapes.node_dim
        self.encoding_dim = shapes.encoding_dim
        self.edge_types = shapes.edge_types if edge_features else 0
        self.edge_dim = shapes.edge_dim if edge_features else 0
        if edge_features and not (self.edge_types or self.edge_dim):
            raise GraphTrialError("these graphs have no edge features; build the model without edge_features")
        self.first_encoding = 1 + (self.node_types or self.node_dim)
        self.first_edge = self.first_encoding + self.encoding_dim
        self.channels = self.first_edge + (self.edge_types or self.edge_dim)

    def read(self, graph: GraphBatch, plan: Plan, dtype: torch.dtype) -> Iterator[Entries]:
        """Return the entries of each bucket; the values of the whole batch come from one scatter."""
        at, row_of_node, row_of_edge, cuts = graph.cached(f"{plan.name} entries", lambda: _entry_rows(graph, plan))
        values = self._values(graph, len(at), row_of_node, row_of_edge, dtype)
        for bucket, first, last in zip(plan.buckets, cuts[:-1], cuts[1:], strict=True):
            yield Entries(bucket, at[first:last] - bucket.start, values[:, first:last])

    def _values(
        self, graph: GraphBatch, entries: int, row_of_node: Tensor, row_of_edge: Tensor, dtype: torch.dtype
    ) -> Tensor:
        device = graph.edge_index.device
        channel = [torch.zeros_like(row_of_edge)]
        row = [row_of_edge]
        value = [graph.cached(f"dense adjacency {dtype}", lambda: _normalised(graph, dtype))]

        def put(rows: Tensor, column: Tensor | None, types: int, dim: int, first: int, one: float = 1.0) -> None:
            if not (types or dim):
                return
            if column is None:
                raise GraphTrialError("the batch lacks the feature column that this model was built for")
            row.append(rows if types else rows.repeat_interleave(dim))
            if types:
                channel.append(first + column.reshape(len(rows)).long())
                value.append(torch.full((len(rows),), one, dtype=dtype, device=device))
            else:
                channel.append(torch.arange(first, first + dim, device=device).repeat(len(rows)))
                value.append(column.reshape(-1).to(dtype))

        put(row_of_node, graph.x, self.node_types, self.node_dim, 1, self.type_value)
        put(row_of_node, encoding_values(graph), 0, self.encoding_dim, self.first_encoding)
        put(row_of_edge, graph.edge_attr, self.edge_types, self.edge_dim, self.first_edge)
        out = torch.zeros(self.channels, entries, dtype=dtype, device=device)
        return out.index_put_((torch.cat(channel), torch.cat(row)), torch.cat(value), accumulate=True)


def _entry_rows(graph: GraphBatch, plan: Plan) -> tuple[Tensor, Tensor, Tensor, list[int]]:
    """Return the pair of each entry, the entry of each node and edge, and where the entries of each bucket begin."""
    source, target = graph.edge_index
    base, stride = plan.pair_base, plan.pair_stride
    local = torch.arange(graph.num_nodes, device=source.device) - graph.ptr.index_select(0, graph.batch)
    owner = graph.batch.index_select(0, source)
    of_node = base.index_select(0, graph.batch) + local * (stride.index_select(0, graph.batch) + 1)
    of_edge = (
        base.index_select(0, owner)
        + local.index_select(0, source) * stride.index_select(0, owner)
        + local.index_select(0, target)
    )
    at, row = torch.unique(torch.cat([of_node, of_edge]), return_inverse=True)
    starts = torch.tensor([bucket.start for bucket in plan.buckets], dtype=torch.int64, device=at.device)
    cuts = [*torch.searchsorted(at, starts).tolist(), len(at)]
    return at, row[: graph.num_nodes], row[graph.num_nodes :], cuts


def _normalised(graph: GraphBatch, dtype: torch.dtype) -> Tensor:
    """Return 1 / sqrt(d_i d_j) for each edge, 0 where a degree is 0."""
    scale = graph.in_degree.to(dtype).rsqrt()
    scale = torch.where(graph.in_degree > 0, scale, 0.0)
    source, target = graph.edge_index
    return scale.index_select(0, source) * scale.index_select(0, target)
