"""SignNet's own models: four networks on sign-invariant positions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from graphtrial.core.arguments import DropoutRate, Width
from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.nn.block import Block, BlockConfig
from graphtrial.nn.conv.gatedgcn import GatedGCN
from graphtrial.nn.encoder import EdgeEncoder, NodeEncoder
from graphtrial.nn.gin_step import GINStep
from graphtrial.nn.head import make_head
from graphtrial.nn.models.san import SANLayer
from graphtrial.nn.neighbourhood.pna_layer import PNALayer, aggregation_factory
from graphtrial.nn.position.encoder import EIGENVECTORS, encoding_of, encoding_parts
from graphtrial.nn.position.sign_invariant import SignInvariant
from graphtrial.nn.position.signnet import mlp
from graphtrial.nn.readout import Readout
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import ALL_LEVELS, Shapes

Base = Literal["gatedgcn", "gin", "pna", "transformer"]
TOWERS, HEADS, EDGE_WIDTH = 5, 8, 40


class SignNetInput(nn.Module):
    """Embedded node features, with positions added or, with `concat`, concatenated and brought back to the width.

    Positions are a linear layer of the encoding, parts by eigenvectors in their sign-invariant version. Returns [nodes,
    width].
    """

    def __init__(
        self,
        shapes: Shapes,
        width: int,
        *,
        invariant: bool,
        concat: bool,
        phi_width: int,
        summed: bool,
        dropout: float,
    ) -> None:
        super().__init__()
        given, replaces = bool(shapes.encoding_dim), bool(shapes.encoding_dim and shapes.encoding_replaces)
        plain = shapes.features_only()
        self.feature = None if replaces else NodeEncoder(plain, width)
        parts = encoding_parts(shapes)
        self.sizes = [part.width for part in parts]
        signed = [at for at, part in enumerate(parts) if invariant and part.name in ("", *EIGENVECTORS)]
        network = partial(SignInvariant, width=width, phi_width=phi_width, summed=summed, dropout=dropout)
        invariant_of = {at: network(parts[at]) for at in signed}
        self.invariant = nn.ModuleDict({str(at): invariant for at, invariant in invariant_of.items()})
        columns = sum(invariant_of[at].vectors if at in signed else size for at, size in enumerate(self.sizes))
        self.position = nn.Linear(columns, width) if given else None
        self.merge = nn.Linear(2 * width, width) if given and concat and not replaces else None

    def forward(self, graph: GraphBatch) -> Tensor:
        if self.position is None:
            return _features(self.feature, graph)
        values = encoding_of(graph, self.position.weight.dtype).nan_to_num()  # small graphs have fewer eigenvectors
        encoded = [
            self.invariant[str(at)](graph, part) if str(at) in self.invariant else part
            for at, part in enumerate(values.split(self.sizes, dim=1))
        ]
        position: Tensor = self.position(torch.cat(encoded, dim=1))
        if self.feature is None:
            return position
        x = _features(self.feature, graph)
        out: Tensor = x + position if self.merge is None else self.merge(torch.cat([x, position], dim=1))
        return out


@MODELS.register("signnet", title="SignNet")
class SignNetModel(nn.Module):
    """SignNet, Lim et al. 2023 (arXiv:2202.13013): GatedGCN, GIN, PNA or sparse transformer, as released for ZINC.

    An encoding by Laplacian eigenvectors goes through `SignInvariant`, any other (all with `invariant=false`) through a
    linear layer alone. GIN has no skip connections and reads no edges; the transformer is SAN's along edges; PNA has 5
    towers.
    `idle_parameters` adds the unused parameters of the released models: edge embeddings of GIN, gamma of the
    transformer. Returns the logits [rows, outputs] of graphs, nodes, edges or pairs.
    """

    levels = ALL_LEVELS
    version = 3
    width_divisor = "base"
    width_divisors: ClassVar[Mapping[str, int]] = {"pna": TOWERS, "transformer": HEADS}

    def __init__(
        self,
        shapes: Shapes,
        width: int,
        layers: int = 16,
        base: Base = "gatedgcn",
        invariant: bool = True,
        phi_width: Width = 4,
        summed: bool = False,
        concat: bool = False,
        edge_features: bool = False,
        dropout: DropoutRate = 0.0,
        readout: Readout = "mean",
        idle_parameters: bool = False,
    ) -> None:
        super().__init__()
        self.base = base
        self.input = SignNetInput(
            shapes, width, invariant=invariant, concat=concat, phi_width=phi_width, summed=summed, dropout=dropout
        )
        reads_edges = base in ("gatedgcn", "transformer") or (base == "pna" and edge_features) or idle_parameters
        size = EDGE_WIDTH if base == "pna" else width
        self.edge_encoder = EdgeEncoder(shapes, size, use_features=edge_features) if reads_edges else None
        self.blocks = nn.ModuleList(
            _layer(base, shapes, width, EDGE_WIDTH if edge_features else 0, dropout, last=at == layers - 1)
            for at in range(layers)
        )
        self.idle = nn.ParameterList(
            nn.Parameter(torch.tensor([0.1])) for _ in range(layers if idle_parameters and base == "transformer" else 0)
        )
        self.head = make_head(shapes, width, layers, readout=readout, layer_heads=False)

    def forward(self, graph: GraphBatch) -> Tensor:
        x = self.input(graph)
        e = self.edge_encoder(graph) if self.edge_encoder is not None and self.base != "gin" else None
        for block in self.blocks:
            if self.base == "gatedgcn":
                x, e = block(graph, x, e)
            elif self.base == "transformer":
                x = block(graph, x, e, e, None)
            else:
                x = block(graph, x, e)
        out: Tensor = self.head(graph, [x])
        return out


def _layer(base: Base, shapes: Shapes, width: int, edge_width: int, dropout: float, *, last: bool) -> nn.Module:
    if base == "gatedgcn":
        return Block(GatedGCN(width), width, BlockConfig(batch_norm=True, residual=True, dropout=dropout), last=last)
    if base == "gin":
        return GINStep(mlp(width, width, layers=2, hidden=width, dropout=dropout), learn_epsilon=False)
    if base == "transformer":
        return SANLayer(width, HEADS, full_graph=False, norm="batch", dropout=dropout)
    aggregation = aggregation_factory(
        shapes,
        towers=TOWERS,
        aggregators="mean max min std",
        scalers="identity amplification attenuation",
        edge_width=edge_width,
    )
    return PNALayer(aggregation(width, width, divide=True), width, width, dropout=dropout, graph_norm=True)


def _features(encoder: NodeEncoder | None, graph: GraphBatch) -> Tensor:
    if encoder is None:
        raise GraphTrialError("the batch lacks the feature column that this model was built for")
    out: Tensor = encoder(graph)
    return out
