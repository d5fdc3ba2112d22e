"""Encoder of all parts of a positional encoding, each by the module that suits it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.nn.encoder import ENCODING_COLUMN
from graphtrial.nn.position.eigenpairs import EigenDeepSet, EigenTransformer
from graphtrial.nn.position.normalized_linear import NormalizedLinear
from graphtrial.nn.position.signnet import SignNet
from graphtrial.nn.position.stable import StablePosition
from graphtrial.nn.shapes import EncodingShape, Shapes

EIGENPAIRS = "laplacian-pairs"
"""Registered name of the encoding whose columns are K eigenvectors and K eigenvalues, NaN where missing."""

EigenEncoder = Literal["deepset", "transformer", "signnet-mlp", "signnet-deepset", "stable"]


@dataclass(frozen=True)
class PositionConfig:
    """How a model encodes positions.

    `width` is that of each encoded part, 0 for a quarter of the model's; `eigen_width` that of encoded eigenpairs, 0
    for the same. `eigen_layers` is the depth of a DeepSet or transformer encoder. With `eigen_encoder` "stable"
    eigenpairs are not node features: `stable_positions` encodes them for the gates of message passing.
    """

    width: int = 0
    eigen_width: int = 0
    eigen_encoder: EigenEncoder = "deepset"
    eigen_layers: int = 2


class PositionEncoder(nn.Module):
    """Encode each part of the encoding and concatenate: eigenpairs as configured, others by `NormalizedLinear`.

    `self.width` is the sum of the widths, at most `limit`; `fill` makes the last part fill it up. Without parts,
    `self.width` is 0. Returns [nodes, self.width].
    """

    def __init__(self, shapes: Shapes, config: PositionConfig, limit: int, *, fill: bool) -> None:
        super().__init__()
        usual = config.width or max(1, limit // 4)
        self.sizes: list[int] = []
        self.used: list[int] = []
        self.width = 0
        encoders: list[nn.Module] = []
        parts = encoding_parts(shapes)
        for at, part in enumerate(parts):
            self.sizes.append(part.width)
            eigen = part.name == EIGENPAIRS
            if eigen and config.eigen_encoder == "stable":
                continue
            width = (config.eigen_width or usual) if eigen else usual
            if fill and at == len(parts) - 1:
                width = limit - self.width
            self.used.append(at)
            self.width += width
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


def encoding_parts(shapes: Shapes) -> tuple[EncodingShape, ...]:
    """Return the parts of the encoding; where they are not named, the whole as one part."""
    return shapes.encodings or ((EncodingShape("", shapes.encoding_dim),) if shapes.encoding_dim else ())


def encoding_of(graph: GraphBatch, dtype: torch.dtype) -> Tensor:
    """Return the encoding of a batch, [nodes, columns]."""
    values = graph.columns.get(ENCODING_COLUMN)
    if values is None:
        raise GraphTrialError("the batch lacks the positional encoding that this model was built for")
    return values.flatten(1).to(dtype) if values.dim() > 1 else values.unsqueeze(1).to(dtype)


class StablePositions(nn.Module):
    """Positions of the gates of `DistanceGate`, from the eigenpairs among the parts of the encoding, [nodes, width]."""

    def __init__(self, shapes: Shapes, width: int) -> None:
        super().__init__()
        parts = encoding_parts(shapes)
        self.sizes = [part.width for part in parts]
        self.at = [part.name for part in parts].index(EIGENPAIRS)
        self.position = StablePosition(self.sizes[self.at] // 2, width)

    def forward(self, graph: GraphBatch) -> Tensor:
        values = encoding_of(graph, next(self.parameters()).dtype).split(self.sizes, dim=1)
        out: Tensor = self.position(values[self.at])
        return out


def stable_positions(shapes: Shapes, config: PositionConfig, width: int) -> StablePositions | None:
    """Return the encoder of stable positions, or None if there are no eigenpairs or they are node features."""
    given = any(part.name == EIGENPAIRS for part in encoding_parts(shapes))
    return StablePositions(shapes, width) if given and config.eigen_encoder == "stable" else None


def _eigen_encoder(part: EncodingShape, width: int, config: PositionConfig) -> nn.Module:
    if config.eigen_encoder == "deepset":
        return EigenDeepSet(width, config.eigen_layers)
    if config.eigen_encoder == "transformer":
        return EigenTransformer(width, config.eigen_layers)
    return SignNet(part.width // 2, width, deepset=config.eigen_encoder == "signnet-deepset")
