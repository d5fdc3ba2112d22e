"""3WL-GNN block: matrix product of two MLPs on node pairs."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs.pairs.buckets import Bucket
from graphtrial.graphs.pairs.ragged import Ragged
from graphtrial.nn.dense.augmented import LANES, affine, padded, with_ones
from graphtrial.nn.dense.autograd import multiply, product_block, spread
from graphtrial.nn.dense.pair_input import Entries
from graphtrial.nn.dense.pair_rows import RowWeights, row_block, widened
from graphtrial.ops.linear import MIN_SIZE


class BlockWeights(NamedTuple):
    """Weights of a block as augmented matrices (bias as a column), shared by all buckets of a batch.

    `mlps` are the layers of both MLPs, [2, rows, columns] each; `skip_input` and `skip_product` the two parts of W.
    """

    mlps: list[Tensor]
    skip_input: Tensor
    skip_product: Tensor


class ProductBlock(nn.Module):
    r"""Block of Provably Powerful Graph Networks, Maron et al. 2019 (arXiv:1905.11136).

    .. math:: h' = W \, [h \,\|\, M_1(h) \cdot M_2(h)] + b \; (+\, W_r h + b_r)

    M_1 and M_2 are MLPs of `depth` layers on the channels of each pair, with ReLU after each layer; the dot is the
    product of n x n matrices per channel. Weights are initialised Xavier-uniform, biases 0; those of the `residual`
    layer by torch's default.
    h: [padded(inputs), pairs] with a row of ones, or the entries of the input -> [padded(width), pairs] likewise.
    """

    def __init__(self, inputs: int, width: int, *, depth: int, residual: bool) -> None:
        super().__init__()
        if depth < 1:
            raise GraphTrialError(f"the MLPs of a 3WL-GNN block need at least one layer; depth is {depth}")
        self.left, self.right = (
            nn.ModuleList(xavier(nn.Linear(inputs if at == 0 else width, width)) for at in range(depth))
            for _ in range(2)
        )
        self.skip = xavier(nn.Linear(inputs + width, width))
        self.residual = nn.Linear(inputs, width) if residual else None
        self.inputs, self.width = inputs, width

    def row_weights(self) -> RowWeights:
        """Return the weights for pairs without padding."""
        layers: Any = zip(self.left, self.right, strict=True)
        mlps = [
            (_widened_pair(left.weight, right.weight), _widened_pair(left.bias, right.bias)) for left, right in layers
        ]
        return RowWeights(mlps, *map(widened, self._skip_weights()))

    def weights(self) -> BlockWeights:
        """Return the augmented weights."""
        skip_input, skip_product, bias = self._skip_weights()
        return BlockWeights(
            [torch.stack([_matrix(one), _matrix(other)]) for one, other in zip(self.left, self.right, strict=True)],
            affine(skip_input, bias),
            nn.functional.pad(skip_product, (0, padded(self.width) - self.width) * 2),
        )

    def _skip_weights(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return both parts of W and its bias, with those of the residual layer added."""
        skip_input, skip_product = self.skip.weight.split([self.inputs, self.width], dim=1)
        bias: Tensor = self.skip.bias
        if self.residual is not None:
            skip_input, bias = skip_input + self.residual.weight, bias + self.residual.bias
        return skip_input, skip_product, bias

    def forward(self, h: Tensor | Entries, bucket: Bucket, weights: BlockWeights | RowWeights) -> Tensor:
        if isinstance(weights, RowWeights):
            rows, at = (_entry_rows(h), h.at) if isinstance(h, Entries) else (h, None)
            return row_block(rows, at, weights, cast(Ragged, bucket))
        if not isinstance(h, Entries):
            return product_block(h, *weights, self.width, bucket)
        columns = with_ones(nn.functional.pad(h.values, (0, 1)))
        factors = torch.mm(weights.mlps[0].flatten(0, 1), columns).relu_().unflatten(0, (2, -1))
        for layer in weights.mlps[1:]:
            factors = torch.bmm(layer, factors).relu_()
        out = spread(torch.mm(weights.skip_input, columns), h.at, bucket.pairs)
        product = multiply(spread(factors, h.at, bucket.pairs), self.width, bucket)
        return out.addmm_(weights.skip_product, product)


def xavier(linear: nn.Linear) -> nn.Linear:
    """Initialise a linear layer with Xavier-uniform weights and bias 0, as in the reference."""
    nn.init.xavier_uniform_(linear.weight)
    nn.init.zeros_(linear.bias)
    return linear


def _matrix(linear: Any) -> Tensor:
    return affine(linear.weight, linear.bias)


def _widened_pair(left: Tensor, right: Tensor) -> Tensor:
    return torch.stack([widened(left), widened(right)])


def _entry_rows(entries: Entries) -> Tensor:
    """Return the entries of the input as rows, then rows of zeros for all other pairs."""
    channels, count = entries.values.shape
    more = max(1, MIN_SIZE - count)
    return nn.functional.pad(entries.values.t(), (0, -channels % LANES, 0, more))
