"""Permutation-equivariant linear layers from n x n matrices to n x n matrices."""

from __future__ import annotations

import torch
from torch import Tensor

from graphtrial.graphs.pairs.buckets import Bucket
from graphtrial.nn.dense.pair_input import Entries

OPERATIONS = 15
"""The operations that span all such maps (Maron et al. 2019, arXiv:1812.09902, appendix A). In this order, numbered
from 0: on the diagonal the diagonal, trace/n, row sum/n, column sum/n and total/n^2 (0 to 4); along rows the column
sum/n and row sum/n (5, 6); along columns the column sum/n and row sum/n (7, 8); the matrix (9), its transpose (10); the
diagonal along rows and along columns (11, 12); everywhere trace/n and total/n^2 (13, 14)."""

_NONE = OPERATIONS
_ALONG = (
    (11, 6, 5, 13, 14),  # row i
    (12, 8, 7, _NONE, _NONE),  # column j
    (0, 2, 3, 1, 4),  # place i of the diagonal
)
"""Operation that broadcasts each statistic (diagonal, row sum, column sum, trace, total) to rows, columns, diagonal."""


def contract(coefficients: Tensor) -> tuple[Tensor, Tensor]:
    """Sort coefficients [maps, inputs, width, 15] into matrices that act on pairs and on statistics.

    Returns [maps * width, 2 * inputs] for a matrix and its transpose, and [3 * maps * width, 5 * inputs] from the
    statistics of a node to its row, its column and its place on the diagonal. No operation but the matrix itself and
    its transpose needs a tensor of pairs of its own.
    """
    maps, inputs, width, _ = coefficients.shape
    pair = coefficients[..., 9:11].permute(0, 2, 3, 1).reshape(maps * width, 2 * inputs)
    padded = torch.nn.functional.pad(coefficients, (0, 1))
    node = padded[..., torch.tensor(_ALONG, device=coefficients.device)]
    return pair, node.permute(3, 0, 2, 4, 1).reshape(3 * maps * width, 5 * inputs)


def apply(pair: Tensor, node: Tensor, h: Tensor | Entries, bucket: Bucket) -> Tensor:
    """Return all maps of a bucket: h [inputs, graphs, size, size] -> [maps * width, graphs, size, size].

    The padding of h must be 0; that of the result is not.
    """
    statistics = _statistics(h, bucket)
    row, column, diagonal = (node @ statistics).view(3, len(pair), bucket.graphs, bucket.size).unbind()
    if isinstance(h, Entries):
        plain, transposed = pair.split(len(h.values), dim=1)
        at, values = torch.cat([h.at, h.transposed]), torch.cat([plain @ h.values, transposed @ h.values], dim=1)
        flat = values.new_zeros(len(pair), bucket.pairs).index_add(1, at, values)
    else:
        flat = pair @ torch.cat([h, h.transpose(2, 3)]).flatten(1)
    out = flat.view(-1, bucket.graphs, bucket.size, bucket.size)
    out = out.add_(row.unsqueeze(3)).add_(column.unsqueeze(2))
    out.diagonal(dim1=2, dim2=3).add_(diagonal)
    return out


def _statistics(h: Tensor | Entries, bucket: Bucket) -> Tensor:
    """Return diagonal, row sum/n, column sum/n, trace/n and total/n^2 of each node, [5 * inputs, graphs * size]."""
    if isinstance(h, Entries):
        on_diagonal = h.source == h.target
        if h.values.device.type == "cpu":
            diagonal = h.node_sums(h.source[on_diagonal], h.values[:, on_diagonal])
        else:  # a selection would make the host wait for the device
            diagonal = h.node_sums(h.source, torch.where(on_diagonal, h.values, 0.0))
        rows, columns = h.node_sums(h.source, h.values), h.node_sums(h.target, h.values)
    else:
        diagonal, rows, columns = h.diagonal(dim1=2, dim2=3), h.sum(3), h.sum(2)
    inverse_size = bucket.sizes.clamp(min=1).to(diagonal.dtype).reciprocal().unsqueeze(1)
    rows, columns = rows * inverse_size, columns * inverse_size
    trace = (diagonal.sum(2, keepdim=True) * inverse_size).expand_as(diagonal)
    total = (rows.sum(2, keepdim=True) * inverse_size).expand_as(diagonal)
    return torch.cat([diagonal, rows, columns, trace, total]).flatten(1)
