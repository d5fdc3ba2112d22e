"""The block of 3WL-GNN: two MLPs on pairs, multiplied as matrices."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from graphtrial.errors import GraphTrialError
from graphtrial.nn.dense.buckets import Bucket
from graphtrial.nn.dense.entries import Entries


class ProductBlock(nn.Module):
    r"""Block of Provably Powerful Graph Networks, Maron et al. 2019 (arXiv:1905.11136).

    .. math:: h' = W \, [h \,\|\, M_1(h) \cdot M_2(h)] + b \; (+\, W_r h + b_r)

    M are MLPs of `depth` maps on the channels of each pair, with ReLU after each; the product is one of n x n matrices,
    channel by channel. Weights are Xavier-uniform, biases 0; those of the `residual` map are torch's default.
    h: [inputs, graphs, size, size] or the entries of the input -> [width, graphs, size, size].
    """

    def __init__(self, inputs: int, width: int, *, depth: int, residual: bool) -> None:
        super().__init__()
        if depth < 1:
            raise GraphTrialError(f"the MLPs of a 3WL-GNN block have one map at least; depth is {depth}")
        self.left, self.right = (
            nn.ModuleList(xavier(nn.Linear(inputs if at == 0 else width, width)) for at in range(depth))
            for _ in range(2)
        )
        self.skip = xavier(nn.Linear(inputs + width, width))
        self.residual = nn.Linear(inputs, width) if residual else None
        self.inputs = inputs

    def forward(self, h: Tensor | Entries, bucket: Bucket) -> Tensor:
        of_input, of_product = self.skip.weight.split([self.inputs, self.skip.in_features - self.inputs], dim=1)
        bias = self.skip.bias
        if self.residual is not None:
            of_input, bias = of_input + self.residual.weight, bias + self.residual.bias
        bias = bias.unsqueeze(1)
        if isinstance(h, Entries):
            empty = h.values.new_zeros(len(h.values), 1)
            paths = _Spread.apply(self._paths(torch.cat([h.values, empty], dim=1)), h.at, bucket.pairs)
            out = torch.addmm(bias, of_product, self._product(paths, bucket))
            out = out.index_add(1, h.at, of_input @ h.values)
        else:
            flat = h.flatten(1)
            out = torch.addmm(bias, of_input, flat)
            out = torch.addmm(out, of_product, self._product(self._paths(flat), bucket))
        return out.view(-1, bucket.graphs, bucket.size, bucket.size)

    def _paths(self, flat: Tensor) -> Tensor:
        """Return both MLPs of pairs: [inputs, pairs] -> [2, width, pairs]."""
        first = self.left[0], self.right[0]
        weight, bias = torch.cat([m.weight for m in first]), torch.cat([m.bias for m in first])
        out = torch.addmm(bias.unsqueeze(1), weight, flat).relu_().unflatten(0, (2, -1))
        for maps in zip(self.left[1:], self.right[1:], strict=True):
            weight, bias = torch.stack([m.weight for m in maps]), torch.stack([m.bias for m in maps])
            out = torch.baddbmm(bias.unsqueeze(2), weight, out).relu_()
        return out

    def _product(self, paths: Tensor, bucket: Bucket) -> Tensor:
        """Multiply the matrices of each channel and graph: [2, width, pairs] -> [width, pairs]."""
        left, right = (path.view(-1, bucket.graphs, bucket.size, bucket.size) for path in paths.unbind())
        if bucket.present is not None:  # nodes that do not exist are no steps of a path
            left = left * bucket.present.to(left.dtype).unsqueeze(1)
        return torch.bmm(left.flatten(0, 1), right.flatten(0, 1)).view(len(left), -1)


class _Spread(torch.autograd.Function):
    """Gives every pair its column: those at `at` their own, in order, all others the last column.

    columns: [..., entries + 1] -> [..., pairs].
    """

    @staticmethod
    def forward(ctx: Any, columns: Tensor, at: Tensor, pairs: int) -> Tensor:
        ctx.save_for_backward(at)
        last = columns[..., -1:]
        out = last.expand(*columns.shape[:-1], pairs).clone(memory_format=torch.contiguous_format)
        return out.index_add_(-1, at, columns[..., :-1] - last)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        (at,) = ctx.saved_tensors
        own = gradient.index_select(-1, at)
        rest = gradient.sum(-1, keepdim=True) - own.sum(-1, keepdim=True)
        return torch.cat([own, rest], dim=-1), None, None


def xavier(linear: nn.Linear) -> nn.Linear:
    """Return the map with Xavier-uniform weights and bias 0, as the reference starts it."""
    nn.init.xavier_uniform_(linear.weight)
    nn.init.zeros_(linear.bias)
    return linear
