"""Spectral attention network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, cast

import torch
from torch import Tensor, nn

from graphtrial.core.arguments import Depth, DropoutRate, NonNegativeFloat, NonNegativeInt, Width
from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.graphs.pairs.layout import check_attention
from graphtrial.nn.attention.edge_vectors import PairEncoder
from graphtrial.nn.attention.pair_attention import PairAttention, gamma_weights
from graphtrial.nn.attention.transformer_block import Norm, PostNormBlock
from graphtrial.nn.encoder import NodeEncoder, zero_missing
from graphtrial.nn.head import make_head
from graphtrial.nn.position.eigenpairs import EigenTransformer, usual_transformer_width
from graphtrial.nn.position.encoder import EIGENPAIRS, encoding_of, encoding_parts
from graphtrial.nn.readout import Readout
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import ALL_LEVELS, Shapes


class SANInput(nn.Module):
    """Embedded node features, concatenated with or replaced by the encoded positions. Returns [nodes, width].

    Eigenpairs go through a transformer encoder, `EigenTransformer`, as in SAN; all other parts of the encoding through
    a linear layer. Each of the two has `position_width` channels of the width, or a quarter of them where it is 0.
    """

    def __init__(self, shapes: Shapes, width: int, position_width: int, eigen_layers: int) -> None:
        super().__init__()
        parts = encoding_parts(shapes)
        self.sizes = [part.width for part in parts]
        self.at = next((at for at, part in enumerate(parts) if part.name == EIGENPAIRS), None)
        columns = shapes.encoding_dim - (0 if self.at is None else self.sizes[self.at])
        replaces = bool(parts) and shapes.encoding_replaces
        usual = position_width or width // 4
        eigen = 0 if self.at is None else position_width or usual_transformer_width(usual)
        if replaces and eigen:
            eigen = usual_transformer_width(width // 2) if columns else width
        other = (width - eigen if replaces else usual) if columns else 0
        size = eigen + other
        if size > width or (size == width and not replaces):
            raise GraphTrialError(f"position_width must be below the width {width}, not {size}")
        self.eigen = EigenTransformer(eigen, eigen_layers) if eigen else None
        self.position = nn.Linear(columns, other) if columns else None
        plain = shapes.features_only()
        self.feature = None if replaces else NodeEncoder(plain, width - size)

    def forward(self, graph: GraphBatch) -> Tensor:
        parts = [] if self.feature is None else [self.feature(graph)]
        if not self.sizes:
            return cast(Tensor, parts[0])
        whole = encoding_of(graph, next(self.parameters()).dtype)
        values = list(whole.split(self.sizes, dim=1)) if len(self.sizes) > 1 else [whole]
        if self.eigen is not None and self.at is not None:
            parts.append(self.eigen(values.pop(self.at)))  # it masks missing eigenpairs (NaN) itself
        if self.position is not None:
            parts.append(self.position(zero_missing(torch.cat(values, dim=1))))
        return torch.cat(parts, dim=1)


class SANLayer(nn.Module):
    """`PairAttention` and `PostNormBlock`. x: [nodes, width] -> [nodes, width]."""

    def __init__(self, width: int, heads: int, *, full_graph: bool, norm: Norm, dropout: float) -> None:
        super().__init__()
        self.attention = PairAttention(width, width, heads, full_graph=full_graph)
        self.block = PostNormBlock(width, norm, dropout)

    def forward(self, graph: GraphBatch, x: Tensor, e: Tensor, other: Tensor, pair_weights: Tensor | None) -> Tensor:
        out: Tensor = self.block(self.attention(graph, x, e, other, pair_weights), x)
        return out


@MODELS.register("san", title="SAN")
class SAN(nn.Module):
    """Spectral attention network, Kreuzer et al. 2021 (arXiv:2106.03893), as released.

    Attention goes between all nodes of a graph, with other weights for pairs without an edge, whose exponentials are
    weighted by `gamma` / (1 + `gamma`); without `full_graph` along edges alone. Positions are Laplacian eigenpairs
    (encoding `laplacian-pairs`), encoded by a transformer of `eigen_layers` in `position_width` channels (0 for a
    quarter of the width). Returns the logits [rows, outputs] of graphs, nodes, edges or pairs.
    """

    levels = ALL_LEVELS
    version = 2
    width_divisor = "heads"
    encodings_as_published: ClassVar[Mapping[str, Mapping[str, Any]]] = {EIGENPAIRS: {"sign": "fixed", "scale": "rows"}}

    def __init__(
        self,
        shapes: Shapes,
        width: int,
        layers: int = 10,
        heads: Width = 8,
        full_graph: bool = True,
        gamma: NonNegativeFloat = 0.1,
        edge_features: bool = False,
        position_width: NonNegativeInt = 0,
        eigen_layers: Depth = 2,
        norm: Norm = "batch",
        dropout: DropoutRate = 0.0,
        readout: Readout = "mean",
    ) -> None:
        super().__init__()
        self.heads = heads
        self.gamma = gamma if full_graph else None
        self.node_encoder = SANInput(shapes, width, position_width, eigen_layers)
        self.pair_encoder = PairEncoder(shapes, width, use_features=edge_features)
        self.blocks = nn.ModuleList(
            SANLayer(width, heads, full_graph=full_graph, norm=norm, dropout=dropout) for _ in range(layers)
        )
        self.head = make_head(shapes, width, layers, readout=readout, layer_heads=False)

    def forward(self, graph: GraphBatch) -> Tensor:
        if self.gamma is not None:
            check_attention(graph, self.heads, len(self.blocks), saved=3)
        x = self.node_encoder(graph)
        e, other = self.pair_encoder(graph)
        weights = None if self.gamma is None else gamma_weights(graph, torch.as_tensor(self.gamma).to(x))
        for block in self.blocks:
            x = block(graph, x, e, other, weights)
        out: Tensor = self.head(graph, [x])
        return out
