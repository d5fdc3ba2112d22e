"""Permutation-invariant encoders of Laplacian eigenpairs: DeepSet and transformer encoder over the frequencies."""

from __future__ import annotations

from itertools import pairwise
from typing import cast

import torch
from torch import Tensor, nn

from graphtrial.core.errors import GraphTrialError

HEADS = 4
"""Attention heads of the transformer encoder in every released configuration."""


def usual_transformer_width(width: int) -> int:
    """Return the largest width of an `EigenTransformer` up to `width`, or the smallest there is."""
    return max(HEADS, width // HEADS * HEADS)


def split_pairs(values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return eigenvectors and eigenvalues, 0 where missing (NaN), and the mask of those present, [nodes, K] each."""
    vectors, eigenvalues = values.chunk(2, dim=1)
    present = vectors.isfinite() & eigenvalues.isfinite()
    return vectors.where(present, 0.0), eigenvalues.where(present, 0.0), present


class EigenDeepSet(nn.Module):
    r"""DeepSet of eigenpairs, the LapPE encoder of GraphGPS (arXiv:2205.12454).

    .. math:: p_i = \sum_k \mathrm{MLP}(v_{ik}, \lambda_k)

    The MLP has `layers` linear layers, hidden ones of width 2 p, each followed by ReLU, the last one too. Missing
    frequencies of small graphs do not count. values: [nodes, 2 K] -> [nodes, width].
    """

    def __init__(self, width: int, layers: int) -> None:
        super().__init__()
        sizes = [2, *[2 * width] * (layers - 1), width]
        steps = [(nn.Linear(before, after), nn.ReLU()) for before, after in pairwise(sizes)]
        self.mlp = nn.Sequential(*(part for step in steps for part in step))

    def forward(self, values: Tensor) -> Tensor:
        vectors, eigenvalues, present = split_pairs(values)
        encoded = self.mlp(torch.stack([vectors, eigenvalues], dim=2))
        return cast(Tensor, encoded.masked_fill(~present.unsqueeze(2), 0.0).sum(dim=1))


class EigenTransformer(nn.Module):
    """Transformer encoder over the eigenpairs of each node, summed: the LPE of SAN (arXiv:2106.03893).

    Layers are `torch.nn.TransformerEncoderLayer` with its defaults: inner width 2048, dropout 0.1, norm last.
    values: [nodes, 2 K] -> [nodes, width].
    """

    def __init__(self, width: int, layers: int) -> None:
        super().__init__()
        if width % HEADS:
            raise GraphTrialError(
                f"a transformer encoder of eigenpairs has {HEADS} heads: its width, position_width or that of a model "
                f"whose features are replaced, must be a multiple of {HEADS}, not {width}"
            )
        self.linear = nn.Linear(2, width)
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(width, HEADS, batch_first=True) for _ in range(layers))

    def forward(self, values: Tensor) -> Tensor:
        vectors, eigenvalues, present = split_pairs(values)
        if not len(values):
            return values.new_zeros(0, self.linear.out_features)
        encoded = self.linear(torch.stack([vectors, eigenvalues], dim=2))
        keys = present.clone()
        keys[:, 0] |= ~present.any(dim=1)  # a softmax over nothing is NaN; such a node is masked below
        for layer in self.layers:
            encoded = layer(encoded, src_key_padding_mask=~keys)
        return cast(Tensor, encoded.masked_fill(~present.unsqueeze(2), 0.0).sum(dim=1))
