"""3WL-GNN (Provably Powerful Graph Networks)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from graphtrial.core.arguments import Depth
from graphtrial.graphs import GraphBatch
from graphtrial.graphs.pairs.buckets import Bucket, Plan
from graphtrial.graphs.pairs.ragged import Ragged, ragged_plan
from graphtrial.nn.dense.checkpointing import MemoryNeeds
from graphtrial.nn.dense.model import DenseModel
from graphtrial.nn.dense.pair_input import Entries, Featureless
from graphtrial.nn.dense.pair_pooling import row_maxima, row_node_sum
from graphtrial.nn.dense.pair_rows import RowWeights
from graphtrial.nn.dense.product_block import BlockWeights, ProductBlock, xavier
from graphtrial.nn.dense.readout import diagonal_and_rest_maximum, node_sum
from graphtrial.nn.head import PairMLP, halving_mlp
from graphtrial.nn.layers import Dropout
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import Shapes
from graphtrial.ops.linear import MIN_SIZE
from graphtrial.ops.portable import uses_kernels
from graphtrial.ops.vector_paths import has_vectors


@MODELS.register("3wl-gnn", title="3WL-GNN")
class ThreeWLGNN(DenseModel):
    r"""Provably Powerful Graph Networks, Maron et al. 2019 (arXiv:1905.11136), as released with arXiv:2003.00982.

    .. math::
        H^{(l+1)} = \mathrm{ProductBlock}_l(H^{(l)}) \in \mathbb{R}^{n \times n \times d}, \qquad
        \hat y = \sum_{l=1}^{L} W_l \big[\max_i H^{(l)}_{ii} \,\|\, \max_{i \ne j} H^{(l)}_{ij}\big] + b_l, \quad
        \hat y_j = \sum_{l=1}^{L} W_l \sum_i H^{(l)}_{ij} + b_l

    Logits of graphs and nodes; as expressive as the 3-WL test. Edges are scored by an MLP on the concatenated node
    readouts of both endpoints, of the input and all blocks; with `edge_layer_heads` by a linear layer per block, as the
    largest model of the papers must have had. `dropout`, 0 in the papers, follows each block. `featureless` is the
    diagonal of graphs with a single node type (see `PairInput`).
    """

    version = 2  # version 1 had ones on the diagonal of graphs without node features
    padding_cost = 120

    def __init__(
        self,
        shapes: Shapes,
        width: int,
        layers: int = 3,
        depth: Depth = 2,
        residual: bool = False,
        edge_features: bool = False,
        dropout: float = 0.0,
        edge_layer_heads: bool = False,
        featureless: Featureless = "zeros",
    ) -> None:
        needs = MemoryNeeds(layers, saved=(2 * depth + 3) * width, state=width, work=6 * width)
        super().__init__(shapes, width=width, edge_features=edge_features, featureless=featureless, needs=needs)
        self.width = width
        inputs = [self.input.channels] + [width] * (layers - 1)
        self.blocks = nn.ModuleList(ProductBlock(d, width, depth=depth, residual=residual) for d in inputs)
        self.dropout = Dropout(dropout)
        self.joined = self.level == "edge" and not edge_layer_heads
        joined = self.input.channels + layers * width
        heads: list[nn.Module] = [PairMLP(halving_mlp(2 * joined, shapes.outputs))] if self.joined else []
        if not self.joined:
            in_width = width if self.level == "node" else 2 * width
            heads = [xavier(nn.Linear(in_width, shapes.outputs)) for _ in self.blocks]
        if self.level == "edge" and not self.joined:
            heads = [PairMLP(nn.Sequential(head)) for head in heads]
        self.heads = nn.ModuleList(heads)

    def plan(self, graph: GraphBatch) -> Plan:
        """Return groups of graphs without padding where compiled kernels can be used, or padded buckets."""
        compiled = uses_kernels(graph.edge_index) and has_vectors() and not torch.compiler.is_compiling()
        if compiled and int(graph.host_ptr.diff().square().sum()) >= MIN_SIZE:
            return ragged_plan(graph, MIN_SIZE)
        return super().plan(graph)

    def prepare(self, plan: Plan) -> list[BlockWeights] | list[RowWeights]:
        blocks: Iterable[Any] = self.blocks
        ragged = isinstance(plan.buckets[0], Ragged)
        return [block.row_weights() if ragged else block.weights() for block in blocks]

    def layer(self, at: int, h: Tensor | Entries, bucket: Bucket, prepared: BlockWeights | RowWeights) -> Tensor:
        out: Tensor = self.blocks[at](h, bucket, prepared)
        if isinstance(bucket, Ragged):
            dropped: Tensor = self.dropout(out)
            return dropped
        if self.training and self.dropout.p:
            out = torch.cat([self.dropout(out[: self.width]), out[self.width :]])  # not the row of ones
        return out

    def read(self, states: list[Tensor | Entries], bucket: Bucket) -> Tensor:
        after = [h for h in states if isinstance(h, Tensor)]
        if isinstance(bucket, Ragged):
            return self._read_rows(states[0], after, bucket)
        if self.level == "graph":
            return torch.cat([diagonal_and_rest_maximum(h, self.width, bucket) for h in after], dim=1)
        shape = self.width, bucket.graphs, bucket.size, bucket.size
        sums = [node_sum(h[: self.width].view(shape), bucket) for h in after]
        return torch.cat([node_sum(states[0], bucket), *sums] if self.joined else sums, dim=1)

    def _read_rows(self, entries: Tensor | Entries, after: list[Tensor], bucket: Ragged) -> Tensor:
        if self.level == "graph":
            return torch.cat([row_maxima(h, self.width, bucket) for h in after], dim=1)
        sums = [row_node_sum(h, self.width, bucket) for h in after]
        if self.joined and isinstance(entries, Entries):
            zeros = entries.values.new_zeros(len(entries.values), int(bucket.node_ptr[-1]))
            sums.insert(0, zeros.index_add(1, bucket.target(entries.at), entries.values).t())
        return torch.cat(sums, dim=1)

    def predict(self, graph: GraphBatch, rows: Tensor) -> Tensor:
        heads: list[Any] = list(self.heads)
        if self.joined:
            out: Tensor = heads[0].score_edges(graph, rows)
            return out
        inputs = zip(heads, rows.chunk(len(heads), dim=1), strict=True)
        logits: list[Tensor] = [head.score_edges(graph, x) if self.level == "edge" else head(x) for head, x in inputs]
        return sum(logits[1:], logits[0])
