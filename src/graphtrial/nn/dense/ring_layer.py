"""RingGNN layer: equivariant linear maps, and the matrix product of two of them."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn

from graphtrial.graphs.pairs.buckets import Bucket
from graphtrial.nn.dense import equivariant
from graphtrial.nn.dense.pair_input import Entries
from graphtrial.nn.layers import Dropout

MAPS = 3  # L_1, and the factors L_2 and L_3 of the product


class Contracted(NamedTuple):
    """Contracted weights of a layer, shared by all buckets of a batch."""

    pair: Tensor
    node: Tensor
    diagonal: Tensor


class RingLayer(nn.Module):
    r"""Layer of RingGNN with radius 2, Chen et al. 2019 (arXiv:1905.12560), as released with arXiv:2003.00982.

    .. math::
        h' = \mathrm{ReLU}\big(w_1 (L_1(h) + D_1) + w_2 \, L_3(h) \cdot (L_2(h) + D_2) + b\big) \; (+\, W_r h + b_r)

    L_k are permutation-equivariant linear maps of n x n matrices (`equivariant`), D_k = d_k I diagonal biases per
    channel. The released layer allocates a bias d_3 for the outer factor L_3 as well but never uses it, so that it
    stays 0; `outer_bias` adds it. `layer_norm` normalises each channel over the pairs of each graph, before the ReLU.
    Coefficients are initialised as normal with variance 2 / (inputs + width), biases as 0, w_1 as 1 and w_2 as
    `product_weight`, half the inverse of the mean graph size.
    h: zero-padded [inputs, graphs, size, size], or the entries of the input -> zero-padded [width, graphs, size, size].
    """

    def __init__(
        self,
        inputs: int,
        width: int,
        *,
        product_weight: float,
        layer_norm: bool,
        residual: bool,
        dropout: float,
        outer_bias: bool = False,
    ) -> None:
        super().__init__()
        self.outer_bias = outer_bias
        scale = math.sqrt(2 / (inputs + width))
        self.coefficients = nn.Parameter(torch.randn(MAPS, inputs, width, equivariant.OPERATIONS) * scale)
        self.diagonal_bias = nn.Parameter(torch.zeros(MAPS, width))
        self.bias = nn.Parameter(torch.zeros(width))
        self.switch = nn.Parameter(torch.tensor([1.0, product_weight]))
        self.norm = PairNorm(width) if layer_norm else None
        self.residual = nn.Linear(inputs, width) if residual else None
        self.dropout = Dropout(dropout)

    def contracted(self) -> Contracted:
        """Return the weights multiplied by w_1 and w_2, once for all buckets of a batch."""
        first, second = self.switch
        switch = torch.stack([first, torch.ones_like(first), second])
        pair, node = equivariant.contract(self.coefficients * switch.view(MAPS, 1, 1, 1))
        used = MAPS if self.outer_bias else MAPS - 1
        return Contracted(pair, node, (self.diagonal_bias[:used] * switch[:used].unsqueeze(1)).flatten())

    def forward(self, h: Tensor | Entries, bucket: Bucket, weights: Contracted) -> Tensor:
        maps = equivariant.apply(weights.pair, weights.node, h, bucket)
        maps[: len(weights.diagonal)].diagonal(dim1=2, dim2=3).add_(weights.diagonal.view(-1, 1, 1))
        linear, inner, outer = maps.unflatten(0, (MAPS, -1)).unbind()
        linear = linear + self.bias.view(-1, 1, 1, 1)
        if bucket.present is not None:  # mask padded nodes in the product
            outer = outer * bucket.present.to(outer.dtype).unsqueeze(1)
        out: Tensor = torch.baddbmm(linear.flatten(0, 1), outer.flatten(0, 1), inner.flatten(0, 1)).view_as(linear)
        if self.norm is not None:
            out = self.norm(out, bucket)
        out = out.relu_()
        if self.residual is not None:
            out = out + _apply_linear(self.residual, h, bucket)
        mask = bucket.pair_mask(out.dtype)
        out = self.dropout(out if mask is None else out * mask)
        return out


class PairNorm(nn.Module):
    """Normalisation of each channel over the unpadded node pairs of each graph, eps 1e-6, with weight and bias."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, h: Tensor, bucket: Bucket) -> Tensor:
        mask = bucket.pair_mask(h.dtype)
        inverse_count = bucket.sizes.clamp(min=1).to(h.dtype).square().reciprocal().view(-1, 1, 1)
        mean = (h if mask is None else h * mask).sum((2, 3), keepdim=True) * inverse_count
        centred = h - mean if mask is None else (h - mean) * mask
        variance = centred.square().sum((2, 3), keepdim=True) * inverse_count
        scale = self.weight.view(-1, 1, 1, 1) * (variance + 1e-6).rsqrt()
        return centred * scale + self.bias.view(-1, 1, 1, 1)


def _apply_linear(linear: nn.Linear, h: Tensor | Entries, bucket: Bucket) -> Tensor:
    """Return W h + b for every pair."""
    bias = linear.bias.unsqueeze(1)
    if isinstance(h, Entries):
        flat = bias.expand(-1, bucket.pairs).index_add(1, h.at, linear.weight @ h.values)
    else:
        flat = torch.addmm(bias, linear.weight, h.flatten(1))
    return flat.view(-1, bucket.graphs, bucket.size, bucket.size)
