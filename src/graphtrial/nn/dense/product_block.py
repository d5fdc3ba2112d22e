"""The block of 3WL-GNN: two MLPs on pairs, multiplied as matrices."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from graphtrial.core.errors import GraphTrialError
from graphtrial.nn.dense.augmented import affine, padded, with_ones
from graphtrial.nn.dense.autograd import multiply, product_block, spread
from graphtrial.nn.dense.buckets import Bucket
from graphtrial.nn.dense.pair_input import Entries


class BlockWeights(NamedTuple):
    """The weights of a block as matrices that act on states with a row of ones, once for all buckets of a batch.

    `paths` are the maps of both MLPs, depth by depth, [2, rows, columns].
    """

    paths: list[Tensor]
    of_input: Tensor
    of_product: Tensor


class ProductBlock(nn.Module):
    r"""Block of Provably Powerful Graph Networks, Maron et al. 2019 (arXiv:1905.11136).

    .. math:: h' = W \, [h \,\|\, M_1(h) \cdot M_2(h)] + b \; (+\, W_r h + b_r)

    M are MLPs of `depth` maps on the channels of each pair, with ReLU after each; the product is one of n x n matrices,
    channel by channel. Weights are Xavier-uniform, biases 0; those of the `residual` map are torch's default.
    h: [padded(inputs), pairs] with its row of ones, or the entries of the input -> [padded(width), pairs] likewise.
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
        self.inputs, self.width = inputs, width

    def weights(self) -> BlockWeights:
        """Return the weights as they are applied."""
        of_input, of_product = self.skip.weight.split([self.inputs, self.width], dim=1)
        bias: Tensor = self.skip.bias
        if self.residual is not None:
            of_input, bias = of_input + self.residual.weight, bias + self.residual.bias
        return BlockWeights(
            [torch.stack([_matrix(one), _matrix(other)]) for one, other in zip(self.left, self.right, strict=True)],
            affine(of_input, bias),
            nn.functional.pad(of_product, (0, padded(self.width) - self.width) * 2),
        )

    def forward(self, h: Tensor | Entries, bucket: Bucket, weights: BlockWeights) -> Tensor:
        if not isinstance(h, Entries):
            return product_block(h, *weights, self.width, bucket)
        columns = with_ones(nn.functional.pad(h.values, (0, 1)))
        paths = torch.mm(weights.paths[0].flatten(0, 1), columns).relu_().unflatten(0, (2, -1))
        for maps in weights.paths[1:]:
            paths = torch.bmm(maps, paths).relu_()
        start = spread(torch.mm(weights.of_input, columns), h.at, bucket.pairs)
        product = multiply(spread(paths, h.at, bucket.pairs), self.width, bucket)
        return start.addmm_(weights.of_product, product)


def xavier(linear: nn.Linear) -> nn.Linear:
    """Return the map with Xavier-uniform weights and bias 0, as the reference starts it."""
    nn.init.xavier_uniform_(linear.weight)
    nn.init.zeros_(linear.bias)
    return linear


def _matrix(linear: Any) -> Tensor:
    return affine(linear.weight, linear.bias)
