"""GatedGCN with learnable positions."""

from __future__ import annotations

from torch import Tensor, nn

from graphtrial.core.arguments import DropoutRate, NonNegativeFloat
from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.nn.encoder import EdgeEncoder
from graphtrial.nn.head import make_head
from graphtrial.nn.lspe.eigen_loss import eigenvector_loss
from graphtrial.nn.lspe.ends import LSPEInput, LSPEOutput
from graphtrial.nn.lspe.gatedgcn_layer import GatedGCNLSPELayer
from graphtrial.nn.readout import Readout
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import ALL_LEVELS, Shapes


@MODELS.register("gatedgcn-lspe", title="GatedGCN-LSPE")
class GatedGCNLSPE(nn.Module):
    """GatedGCN with learnable structural and positional encodings, Dwivedi et al. 2022 (arXiv:2110.07875), as released.

    Positions start from the encoding, random-walk probabilities in the paper, and are updated beside the node states
    by `GatedGCNLSPELayer`; normalised in each graph, they are merged into the node states before the readout. Training
    adds `eigen_loss` times `eigenvector_loss`. Without an encoding the model is GatedGCN. Returns the logits [rows,
    outputs] of graphs, nodes, edges or pairs.
    """

    levels = ALL_LEVELS
    version = 2

    def __init__(
        self,
        shapes: Shapes,
        width: int,
        layers: int = 16,
        edge_features: bool = False,
        eigen_loss: NonNegativeFloat = 0.0,
        dropout: DropoutRate = 0.0,
        readout: Readout = "mean",
    ) -> None:
        super().__init__()
        self.eigen_loss = eigen_loss
        positions = bool(shapes.encoding_dim)
        if eigen_loss and not positions:
            raise GraphTrialError("eigen_loss of gatedgcn-lspe is a loss of positions: add --encoding rwse:20")
        self.input = LSPEInput(shapes, width)
        self.edge_encoder = EdgeEncoder(shapes, width, use_features=edge_features)
        self.blocks = nn.ModuleList(
            GatedGCNLSPELayer(width, positions=positions, last=at == layers - 1, dropout=dropout)
            for at in range(layers)
        )
        self.output = LSPEOutput(width, shapes.encoding_dim, normalize=True) if positions else None
        self.head = make_head(shapes, width, layers, readout=readout, layer_heads=False)
        self._extra_loss: Tensor | float = 0.0

    def forward(self, graph: GraphBatch) -> Tensor:
        (x, p), e = self.input(graph), self.edge_encoder(graph)
        for block in self.blocks:
            x, p, e = block(graph, x, p, e)
        if self.output is not None:
            x, q = self.output(graph, x, p)
            self._extra_loss = self.eigen_loss * eigenvector_loss(graph, q) if self.eigen_loss else 0.0
        out: Tensor = self.head(graph, [x])
        return out

    def extra_loss(self) -> Tensor | float:
        """Return the loss of the positions of the last forward pass, which training adds to that of the task."""
        return self._extra_loss
