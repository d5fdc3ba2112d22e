"""DiffPool: differentiable pooling of nodes to clusters."""

from __future__ import annotations

import math
from functools import partial
from itertools import pairwise
from typing import Annotated

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from graphtrial.core.arguments import Range, Width
from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.nn.dense.pooling import diffpool
from graphtrial.nn.encoder import NodeEncoder
from graphtrial.nn.layers import BatchNorm, Dropout
from graphtrial.nn.raw_features import require_level
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import Shapes
from graphtrial.ops import aggregate


@MODELS.register("diffpool", title="DiffPool")
class DiffPool(nn.Module):
    r"""GNN with one differentiable pooling layer, Ying et al. 2018 (arXiv:1806.08804), as in arXiv:2003.00982v1.

    .. math::
        Z = \mathrm{GNN}_{feature}(A, X), \quad S = \mathrm{softmax}(\mathrm{GNN}_{assign}(A, X)), \quad
        X' = S^\top Z / \sqrt{\text{clusters}}, \quad A' = S^\top A S, \quad
        \hat y = W \sum_c \mathrm{GNN}_{dense}(A', X')_c + b

    X is the output of `layers` mean-GraphSage layers, GNN_dense has `layers` dense GraphSage layers on the clusters.
    `embedding` is the width of the last layer before and after pooling, 0 for `width`. The paper uses 15 % of the nodes
    of the largest graph as `clusters`, and its code separate assignment weights per position in a batch: `slots` of
    them, there the batch size. With more than one slot, predictions depend on a graph's position in its batch.
    `batch_norm` refers to the layers before pooling; the normalisation of the clusters is always there.

    Training adds `extra_loss()`. Returns [graphs, outputs].
    """

    levels = ("graph",)

    def __init__(
        self,
        shapes: Shapes,
        width: int,
        layers: int = 3,
        clusters: Width = 8,
        slots: Width = 1,
        embedding: Annotated[int, Range(0, 1 << 16)] = 0,
        residual: bool = True,
        graph_norm: bool = False,
        dropout: float = 0.0,
        batch_norm: bool = True,
    ) -> None:
        super().__init__()
        require_level("diffpool", shapes, self.levels)
        self.clusters, self.slots = clusters, slots
        last = embedding or width
        widths = [*[width] * layers, last]
        self.node_encoder = NodeEncoder(shapes, width)
        sage = partial(MeanSage, batch_norm=batch_norm, dropout=dropout)
        self.before = nn.ModuleList(
            sage(*pair, relu=at < layers - 1, residual=residual, graph_norm=graph_norm)
            for at, pair in enumerate(pairwise(widths))
        )
        self.feature = sage(last, width, relu=True, residual=False, graph_norm=False)
        self.assignment = sage(last, clusters * slots, relu=True, residual=False, graph_norm=False)
        self.after = nn.ModuleList(DenseSage(*pair, clusters, residual=residual) for pair in pairwise(widths))
        self.head = nn.Linear(last, shapes.outputs)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight, gain=math.sqrt(2))
                nn.init.zeros_(module.bias)
        self._extra_loss: Tensor | None = None

    def forward(self, graph: GraphBatch) -> Tensor:
        x = self.node_encoder(graph)
        for layer in self.before:
            x = layer(graph, x)
        assignment = self._select_slot(graph, self.assignment(graph, x)).softmax(dim=1)
        pooled = diffpool(graph, self.feature(graph, x), assignment)
        self._extra_loss = pooled.link_loss + pooled.entropy
        x = pooled.x / math.sqrt(self.clusters)
        for layer in self.after:
            x = layer(x, pooled.adjacency)
        out: Tensor = self.head(x.sum(1))
        return out

    def extra_loss(self) -> Tensor:
        """Return the sum of link prediction and entropy losses of the last forward pass."""
        if self._extra_loss is None:
            raise GraphTrialError("extra_loss() of diffpool needs a forward pass first")
        return self._extra_loss

    def _select_slot(self, graph: GraphBatch, logits: Tensor) -> Tensor:
        """Return the logits of the slot of each node's graph, [nodes, clusters]."""
        if self.slots == 1:
            return logits
        slot = graph.batch % self.slots
        rows = logits.view(-1, self.slots, self.clusters)
        return rows[torch.arange(len(rows), device=rows.device), slot]


class MeanSage(nn.Module):
    r"""Mean GraphSage: normalised linear layer on [h_i || mean_j h_j], ReLU, batch norm, residual if widths agree.

    x: [nodes, in_width] -> [nodes, width].
    """

    def __init__(
        self,
        in_width: int,
        width: int,
        *,
        relu: bool,
        residual: bool,
        graph_norm: bool,
        batch_norm: bool,
        dropout: float,
    ) -> None:
        super().__init__()
        self.linear = nn.Linear(2 * in_width, width)
        self.norm = BatchNorm(width) if batch_norm else None
        self.dropout = Dropout(dropout)
        self.relu = relu
        self.residual = residual and in_width == width
        self.graph_norm = graph_norm

    def forward(self, graph: GraphBatch, x: Tensor) -> Tensor:
        dropped = self.dropout(x)
        out = F.normalize(self.linear(torch.cat([dropped, aggregate(graph, dropped, "mean")], dim=1)))
        if self.relu:
            out = out.relu()
        if self.graph_norm:
            out = out * graph.ptr.diff().to(out.dtype).rsqrt().index_select(0, graph.batch).unsqueeze(1)
        if self.norm is not None:
            out = self.norm(out)
        return out + x if self.residual else out


class DenseSage(nn.Module):
    """Dense GraphSage on clusters: L2-normalised W (A x) + b, ReLU, residual if widths agree, batch norm per cluster.

    The reference creates this batch norm in the first forward pass, after the optimizer, so that it is not trained.
    x: [graphs, clusters, in_width], adjacency: [graphs, clusters, clusters] -> [graphs, clusters, width].
    """

    def __init__(self, in_width: int, width: int, clusters: int, *, residual: bool) -> None:
        super().__init__()
        self.linear = nn.Linear(in_width, width)
        self.norm = nn.BatchNorm1d(clusters, affine=False)
        self.residual = residual and in_width == width

    def forward(self, x: Tensor, adjacency: Tensor) -> Tensor:
        out = F.normalize(self.linear(torch.bmm(adjacency, x)), dim=2).relu()
        normed: Tensor = self.norm(out + x if self.residual else out)
        return normed
