"""3WL-GNN's block on pairs without padding, by compiled kernels that threads share.

The portable fallback, for processors without vector instructions and other devices, is `dense.autograd` on padded
buckets.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from graphtrial.core.hardware.threads import run
from graphtrial.graphs.pairs.ragged import Ragged
from graphtrial.nn.dense.augmented import LANES
from graphtrial.ops.custom_op import array, empty
from graphtrial.ops.linear import MIN_SIZE, PRODUCTS_PER_ELEMENT, matmul_into, transposed_matmul


class RowWeights(NamedTuple):
    """Weights of a block, zero-padded to multiples of eight.

    mlps: weight [2, rows, columns] and bias [2, rows] of each layer of both MLPs; then both parts of W, and its bias.
    """

    mlps: list[tuple[Tensor, Tensor]]
    skip_input: Tensor
    skip_product: Tensor
    bias: Tensor


def widened(tensor: Tensor) -> Tensor:
    """Pad each dimension of a weight or bias with zeros to a multiple of eight."""
    sizes = [size for length in reversed(tensor.shape) for size in (0, -length % LANES)]
    return torch.nn.functional.pad(tensor, sizes)


def row_block(x: Tensor, at: Tensor | None, weights: RowWeights, bucket: Ragged) -> Tensor:
    """Return W h + V (A . B) + b, A and B the outputs of two MLPs on h, multiplied as matrices per channel.

    x: the state h [pairs, channels]; or, with `at` [entries], its rows at these pairs, and then at least one row for
    all others, [entries + more, channels] -> [pairs, rows of W].
    """
    maps = [tensor for layer in weights.mlps for tensor in layer]
    out: Tensor = _Block.apply(x, at, weights.skip_input, weights.skip_product, weights.bias, bucket, *maps)
    return out


class _Block(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        at: Tensor | None,
        skip_input: Tensor,
        skip_product: Tensor,
        bias: Tensor,
        bucket: Ragged,
        *maps: Tensor,
    ) -> Tensor:
        from graphtrial.ops.kernels import pairs

        x = x.contiguous()
        row = None if at is None else _row_of_pair(at, len(x), bucket)
        paths: list[Tensor] = []
        for weight, shift in zip(maps[::2], maps[1::2], strict=True):
            factor = array(paths[-1]) if paths else array(x)[None]
            paths.append(empty(x, 2, len(x), weight.shape[1]))
            run(pairs.linear_relu, _work(len(x), weight), factor, array(weight), array(shift), paths[-1].numpy())
        product, out = empty(x, bucket.pairs, len(skip_product)), empty(x, bucket.pairs, len(skip_product))
        place = bucket.ptr, bucket.size_array, array(paths[-1]), row
        run(pairs.pair_product, _product_work(product, bucket), *place, product.numpy())
        if at is None:
            weights = torch.stack([skip_input, skip_product])
            terms = array(x), product.numpy()
            run(pairs.sum_of_products, _work(len(x), weights), terms, array(weights), True, array(bias), out.numpy())
        else:
            base = torch.empty_like(paths[-1][0])
            matmul_into(x, skip_input, bias, base, transposed=True)
            matmul_into(product, skip_product, base[-1], out, transposed=True)
            _add_rows(out, at, base[: len(at)] - base[-1])
        ctx.bucket, ctx.row, ctx.depth = bucket, row, len(maps) // 2
        ctx.save_for_backward(x, at, skip_input, skip_product, product, *maps, *paths)
        return out

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor | None, ...]:
        from graphtrial.ops.kernels import pairs

        x, at, skip_input, skip_product, product, *rest = ctx.saved_tensors
        weights, paths = rest[: 2 * ctx.depth : 2], rest[2 * ctx.depth :]
        bucket = ctx.bucket
        grad_output = grad_output.contiguous()
        nonzero = _nonzero_rows(grad_output)
        some = grad_output if nonzero is None else grad_output.index_select(0, nonzero)
        some_product = product if nonzero is None else product.index_select(0, nonzero)
        grad_skip_product, grad_bias = transposed_matmul(some, some_product)
        some_grad = empty(product, len(some), skip_product.shape[1])
        matmul_into(some, skip_product, None, some_grad, transposed=False)
        grad_product = some_grad
        if nonzero is not None:
            grad_product = torch.zeros_like(product).index_copy_(0, nonzero, some_grad)

        last = paths[-1]
        grad = empty(last, *last.shape) if at is None else torch.zeros_like(last)
        default = last.new_empty(bucket.graphs, 2, last.shape[2])
        run(
            pairs.pair_product_backward,
            2 * _product_work(product, bucket),
            bucket.ptr,
            bucket.size_array,
            array(last),
            ctx.row,
            array(grad_product),
            grad.numpy(),
            default.numpy(),
        )
        if at is not None:
            grad[:, -1] = default.sum(0)
        grad_maps: list[Tensor] = []
        for layer in range(ctx.depth - 1, 0, -1):
            grad_maps = [*_weight_gradients(grad, paths[layer - 1]), *grad_maps]
            before = empty(x, *paths[layer - 1].shape)
            numbers = array(grad), array(weights[layer]), array(paths[layer - 1]), before.numpy()
            run(pairs.linear_relu_backward, _work(len(x), weights[layer]), *numbers)
            grad = before
        grad_maps = [*_weight_gradients(grad, x.expand(2, *x.shape)), *grad_maps]

        if at is None:
            rows = x if nonzero is None else x.index_select(0, nonzero)
            grad_skip_input = transposed_matmul(some, rows)[0]
            grad_x = _input_gradient(grad, weights[0], grad_output, skip_input, nonzero, some)
        else:
            own = grad_output.index_select(0, at)
            grad_skip_input = transposed_matmul(own, x[: len(at)])[0]
            grad_x = None
            if ctx.needs_input_grad[0]:
                grad_x = grad[0] @ weights[0][0] + grad[1] @ weights[0][1]
                grad_x[: len(at)] += own @ skip_input
                grad_x[-1] += (grad_bias - own.sum(0)) @ skip_input
        return grad_x, None, grad_skip_input, grad_skip_product, grad_bias, None, *grad_maps


def _input_gradient(
    grad: Tensor, weight: Tensor, grad_output: Tensor, skip_input: Tensor, nonzero: Tensor | None, some: Tensor
) -> Tensor:
    """Return the gradient of the state, from both MLPs and W."""
    from graphtrial.ops.kernels import pairs

    out = empty(grad_output, len(grad_output), weight.shape[2])
    terms: tuple[Any, ...] = (array(grad[0]), array(grad[1]))
    if nonzero is None:
        terms, weight = (*terms, array(grad_output)), torch.cat([weight, skip_input.unsqueeze(0)])
    run(pairs.sum_of_products, _work(len(out), weight), terms, array(weight), False, None, out.numpy())
    if nonzero is not None:
        own = empty(some, len(some), skip_input.shape[1])
        matmul_into(some, skip_input, None, own, transposed=False)
        _add_rows(out, nonzero, own)
    return out


def _add_rows(out: Tensor, index: Tensor, rows: Tensor) -> None:
    """Add to distinct rows; `index_add_` adds element by element."""
    out.index_copy_(0, index, out.index_select(0, index).add_(rows))


def _weight_gradients(grad: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """Return the gradients of weight and bias of one layer of both MLPs."""
    (left, left_bias), (right, right_bias) = (transposed_matmul(g, factor) for g, factor in zip(grad, x, strict=True))
    return torch.stack([left, right]), torch.stack([left_bias, right_bias])


def _nonzero_rows(grad_output: Tensor) -> Tensor | None:
    """Return the nonzero rows if they are fewer than half of all: pooling selects a few pairs of the last state."""
    from graphtrial.ops.kernels import pairs

    rows = torch.empty(len(grad_output), dtype=torch.int64)
    count = pairs.nonzero_rows(array(grad_output), rows.numpy())
    return rows[:count] if MIN_SIZE <= count < len(rows) // 2 else None


def _row_of_pair(at: Tensor, rows: int, bucket: Ragged) -> Any:
    """Return the row of each pair: that of its entry, or the last."""
    row = np.full(bucket.pairs, rows - 1)
    row[at.numpy()] = np.arange(len(at))
    return row


def _work(rows: int, weight: Tensor) -> int:
    return rows * weight.numel() // PRODUCTS_PER_ELEMENT


def _product_work(product: Tensor, bucket: Ragged) -> int:
    return 3 * product.numel() + int((bucket.size_array**3).sum()) * product.shape[1] // PRODUCTS_PER_ELEMENT
