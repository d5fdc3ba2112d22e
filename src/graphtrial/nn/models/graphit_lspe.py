"""GraphiT with learnable positions."""

from __future__ import annotations

import torch
from torch import Tensor

from graphtrial.core.arguments import Depth, DropoutRate, Probability, Width
from graphtrial.graphs import GraphBatch
from graphtrial.graphs.pairs.walk_kernel import walk_kernel
from graphtrial.nn.lspe.transformer import TransformerLSPE
from graphtrial.nn.readout import Readout
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import Shapes


@MODELS.register("graphit-lspe", title="GraphiT-LSPE")
class GraphiTLSPE(TransformerLSPE):
    """GraphiT (arXiv:2106.05667) with learnable positions, Dwivedi et al. 2022 (arXiv:2110.07875), as released.

    As `TransformerLSPE`, with a random-walk kernel of `steps` steps of size `gamma` as pair weights (see
    `walk_kernel`). Returns the logits [rows, outputs] of graphs, nodes, edges or pairs.
    """

    beyond_message_passing = True

    def __init__(
        self,
        shapes: Shapes,
        width: int,
        layers: int = 10,
        heads: Width = 8,
        steps: Depth = 16,
        gamma: Probability = 0.25,
        edge_features: bool = False,
        dropout: DropoutRate = 0.0,
        readout: Readout = "sum",
    ) -> None:
        super().__init__(
            shapes, width, layers=layers, heads=heads, edge_features=edge_features, dropout=dropout, readout=readout
        )
        self.steps = steps
        self.gamma = gamma

    def pair_weights(self, graph: GraphBatch, dtype: torch.dtype) -> Tensor:
        return walk_kernel(graph, self.steps, self.gamma, dtype).unsqueeze(1)
