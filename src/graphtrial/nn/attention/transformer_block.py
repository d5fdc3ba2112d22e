"""Second half of a transformer layer with post-normalisation."""

from __future__ import annotations

from typing import Literal

from torch import Tensor, nn

from graphtrial.nn.layers import BatchNorm, Dropout, Linear

Norm = Literal["batch", "layer"]


class PostNormBlock(nn.Module):
    r"""Output projection and feed-forward network of a transformer layer, each with residual connection and norm.

    .. math:: y = \mathrm{norm}_1\big(x + O \, \mathrm{dropout}(a)\big), \qquad
        x' = \mathrm{norm}_2\big(y + W_2 \, \mathrm{dropout}(\mathrm{ReLU}(W_1 y))\big)

    a, x: [rows, width] -> [rows, width], with a the output of the attention and a hidden width of 2 width.
    """

    def __init__(self, width: int, norm: Norm, dropout: float) -> None:
        super().__init__()
        self.dropout = Dropout(dropout)
        self.output = Linear(width, width)
        self.norm = make_norm(norm, width)
        self.ffn = nn.Sequential(Linear(width, 2 * width), nn.ReLU(), Dropout(dropout), Linear(2 * width, width))
        self.ffn_norm = make_norm(norm, width)

    def forward(self, attended: Tensor, x: Tensor) -> Tensor:
        y = self.norm(x + self.output(self.dropout(attended)))
        out: Tensor = self.ffn_norm(y + self.ffn(y))
        return out


def make_norm(norm: Norm, width: int) -> nn.Module:
    """Return batch norm or layer norm."""
    return BatchNorm(width) if norm == "batch" else nn.LayerNorm(width)
