"""Transformer between all nodes of a graph with learnable positions."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from graphtrial.graphs import GraphBatch
from graphtrial.graphs.pairs.layout import check_attention
from graphtrial.nn.attention.edge_vectors import PairEncoder
from graphtrial.nn.head import make_head
from graphtrial.nn.lspe.attention_layer import AttentionLSPELayer
from graphtrial.nn.lspe.ends import LSPEInput, LSPEOutput
from graphtrial.nn.shapes import ALL_LEVELS, Shapes


class TransformerLSPE(nn.Module, ABC):
    """Base class of SAN-LSPE and GraphiT-LSPE, which differ in the weights of pairs of nodes.

    Positions start from the encoding, random-walk probabilities in the paper, and are updated by `AttentionLSPELayer`;
    they are merged into the node states before the readout, not normalised. Without an encoding there are none.
    """

    levels = ALL_LEVELS
    width_divisor = "heads"

    def __init__(
        self, shapes: Shapes, width: int, *, layers: int, heads: int, edge_features: bool, dropout: float, readout: str
    ) -> None:
        super().__init__()
        self.heads = heads
        positions = bool(shapes.encoding_dim)
        self.input = LSPEInput(shapes, width)
        self.pair_encoder = PairEncoder(shapes, width, use_features=edge_features)
        self.blocks = nn.ModuleList(
            AttentionLSPELayer(width, heads, positions=positions, dropout=dropout) for _ in range(layers)
        )
        self.output = LSPEOutput(width, shapes.encoding_dim, normalize=False) if positions else None
        self.head = make_head(shapes, width, layers, readout=readout, layer_heads=False)

    @abstractmethod
    def pair_weights(self, graph: GraphBatch, dtype: torch.dtype) -> Tensor:
        """Return the factor of each pair's exponential, [pairs of `complete_graph`, 1]."""

    def forward(self, graph: GraphBatch) -> Tensor:
        check_attention(graph, self.heads, len(self.blocks), saved=8)
        (x, p), (e, other) = self.input(graph), self.pair_encoder(graph)
        weights = self.pair_weights(graph, x.dtype)
        for block in self.blocks:
            x, p = block(graph, x, p, e, other, weights)
        if self.output is not None:
            x, _ = self.output(graph, x, p)
        out: Tensor = self.head(graph, [x])
        return out
