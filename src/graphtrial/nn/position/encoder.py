"""Encoder of all parts of a positional encoding, each by the module that suits it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.nn.encoder import ENCODING_COLUMN
from graphtrial.nn.position.eigenpairs import EigenDeepSet, EigenTransformer, split_pairs, usual_transformer_width
from graphtrial.nn.position.normalized_linear import NormalizedLinear
from graphtrial.nn.position.signnet import SignNet
from graphtrial.nn.position.stable import StablePosition
from graphtrial.nn.shapes import EncodingShape, Shapes

EIGENPAIRS = "laplacian-pairs"
"""Registered name of the encoding whose columns are K eigenvectors and K eigenvalues, NaN where missing."""

DISTANCES = "equivariant-laplacian"
"""Registered name of the encoding by eigenvectors that enter as distances (ESLapPE) where a model has gates."""

EIGENVECTORS = ("laplacian", EIGENPAIRS, DISTANCES)
"""Registered names of encodings by eigenvectors of the Laplacian."""

EigenEncoder = Literal["deepset", "transformer", "signnet-mlp", "signnet-deepset", "stable"]


@dataclass(frozen=True)
class PositionConfig:
    """How a model encodes positions.

    `width` is that of each encoded part, 0 for a quarter of the model's; `eigen_width` that of encoded eigenpairs, 0
    for the same. `eigen_layers` is the depth of a DeepSet or transformer encoder. Where the model has `gates` in its
    message passing, the encoding `equivariant-laplacian` and, with `eigen_encoder` "stable", eigenpairs are not node
    features: `stable_positions` encodes them for the gates.
    """

    width: int = 0
    eigen_width: int = 0
    eigen_encoder: EigenEncoder = "deepset"
    eigen_layers: int = 2
    gates: bool = False

    def is_for_gates(self, part: EncodingShape) -> bool:
        """Return whether a part of the encoding enters by the gates of message passing alone."""
        stable = part.name == EIGENPAIRS and self.eigen_encoder == "stable"
        if stable and not self.gates:
            raise GraphTrialError(
                "eigen_encoder=stable encodes eigenpairs for the gates of message passing, which this model does not "
                "have: use another eigen_encoder, or local=gatedgcn or gine"
            )
        return stable or (self.gates and part.name == DISTANCES)

    def width_of(self, part: EncodingShape, usual: int) -> int:
        """Return the width of an encoded part; `usual` where none is configured."""
        if part.name != EIGENPAIRS:
            return self.width or usual
        transformer = self.eigen_encoder == "transformer"
        return self.eigen_width or self.width or (usual_transformer_width(usual) if transformer else usual)


class PositionEncoder(nn.Module):
    """Encode each part of the encoding and concatenate: eigenpairs as configured, others by `NormalizedLinear`.

    `self.width` is the sum of the widths, at most `limit`; `fill` makes the last part fill it up. Without parts,
    `self.width` is 0. Returns [nodes, self.width].
    """

    def __init__(self, shapes: Shapes, config: PositionConfig, limit: int, *, fill: bool) -> None:
        super().__init__()
        parts = encoding_parts(shapes)
        self.sizes = [part.width for part in parts]
        self.used = [at for at, part in enumerate(parts) if not config.is_for_gates(part)]
        usual = max(1, limit // 4 if len(self.used) < 4 else limit // (2 * len(self.used)))
        self.width = 0
        encoders: list[nn.Module] = []
        for at in self.used:
            part, last = parts[at], at == self.used[-1]
            width = limit - self.width if fill and last else config.width_of(part, usual)
            self.width += width
            eigen = part.name == EIGENPAIRS
            encoders.append(_eigen_encoder(part, width, config) if eigen else NormalizedLinear(part.width, width))
        self.encoders = nn.ModuleList(encoders)
        if self.width > limit or (self.width == limit and not fill):
            raise GraphTrialError(
                f"encoded positions of width {self.width} leave nothing of a model of width {limit} for the features: "
                "use a smaller position_width"
            )

    def forward(self, graph: GraphBatch) -> Tensor:
        parts = encoding_of(graph, next(self.parameters()).dtype).split(self.sizes, dim=1)
        encoded = [
            encoder(graph, parts[at]) if isinstance(encoder, SignNet) else encoder(parts[at])
            for at, encoder in zip(self.used, self.encoders, strict=True)
        ]
        return torch.cat(encoded, dim=1)


def require_eigenpairs(shapes: Shapes, eigen_encoder: EigenEncoder) -> None:
    """Raise an error where an encoding is given that has nothing for a chosen encoder of eigenpairs."""
    if shapes.encodings and EIGENPAIRS not in [part.name for part in shapes.encodings]:
        raise GraphTrialError(
            f"eigen_encoder={eigen_encoder} encodes eigenpairs, which this encoding has none of: leave it out, or add "
            f"{EIGENPAIRS}, such as --encoding {EIGENPAIRS}:8"
        )


def encoding_parts(shapes: Shapes) -> tuple[EncodingShape, ...]:
    """Return the parts of the encoding; where they are not named, the whole as one part."""
    return shapes.encodings or ((EncodingShape("", shapes.encoding_dim),) if shapes.encoding_dim else ())


def encoding_of(graph: GraphBatch, dtype: torch.dtype) -> Tensor:
    """Return the encoding of a batch, [nodes, columns]."""
    values = graph.columns.get(ENCODING_COLUMN)
    if values is None:
        raise GraphTrialError(
            "the batch lacks the positional encoding that this model was built for: "
            "graphtrial.encodings.encode(graphs, encoding, 'encoding') adds it to a set of graphs"
        )
    return values.flatten(1).to(dtype) if values.dim() > 1 else values.unsqueeze(1).to(dtype)


class StablePositions(nn.Module):
    """Positions for `DistanceGate`, from the eigenvectors of these parts of the encoding, [nodes, width]."""

    def __init__(self, parts: tuple[EncodingShape, ...], used: list[int], width: int) -> None:
        super().__init__()
        self.sizes = [part.width for part in parts]
        self.pairs = {at: parts[at].name == EIGENPAIRS for at in used}
        self.position = StablePosition(sum(self.sizes[at] // (1 + pairs) for at, pairs in self.pairs.items()), width)

    def forward(self, graph: GraphBatch) -> Tensor:
        values = encoding_of(graph, next(self.parameters()).dtype).split(self.sizes, dim=1)
        vectors = [split_pairs(values[at])[0] if pairs else values[at] for at, pairs in self.pairs.items()]
        out: Tensor = self.position(torch.cat(vectors, dim=1))
        return out


def stable_positions(shapes: Shapes, config: PositionConfig, width: int) -> StablePositions | None:
    """Return the encoder of stable positions, or None if no part of the encoding is for gates."""
    parts = encoding_parts(shapes)
    used = [at for at, part in enumerate(parts) if config.is_for_gates(part)]
    return StablePositions(parts, used, width) if used else None


def _eigen_encoder(part: EncodingShape, width: int, config: PositionConfig) -> nn.Module:
    if config.eigen_encoder == "deepset":
        return EigenDeepSet(width, config.eigen_layers)
    if config.eigen_encoder == "transformer":
        return EigenTransformer(width, config.eigen_layers)
    return SignNet(part.width // 2, width, deepset=config.eigen_encoder == "signnet-deepset")
