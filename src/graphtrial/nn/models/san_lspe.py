"""SAN with learnable positions."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from graphtrial.core.arguments import DropoutRate, Probability, Width
from graphtrial.graphs import GraphBatch
from graphtrial.nn.attention.pair_attention import gamma_weights
from graphtrial.nn.lspe.transformer import TransformerLSPE
from graphtrial.nn.readout import Readout
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import Shapes


@MODELS.register("san-lspe", title="SAN-LSPE")
class SANLSPE(TransformerLSPE):
    r"""SAN with learnable structural and positional encodings, Dwivedi et al. 2022 (arXiv:2110.07875), as released.

    As `TransformerLSPE`, with the pair weights of SAN; :math:`\gamma` is one parameter of the whole model, clamped to
    [0, 1], which starts at `gamma`. Returns the logits [rows, outputs] of graphs, nodes, edges or pairs.
    """

    def __init__(
        self,
        shapes: Shapes,
        width: int,
        layers: int = 10,
        heads: Width = 8,
        gamma: Probability = 0.1,
        edge_features: bool = False,
        dropout: DropoutRate = 0.0,
        readout: Readout = "sum",
    ) -> None:
        super().__init__(
            shapes, width, layers=layers, heads=heads, edge_features=edge_features, dropout=dropout, readout=readout
        )
        self.gamma = nn.Parameter(torch.tensor([gamma]))

    def pair_weights(self, graph: GraphBatch, dtype: torch.dtype) -> Tensor:
        return gamma_weights(graph, self.gamma.to(dtype).clamp(0.0, 1.0))
