"""Linear layer for tall matrices, with a matrix product tuned to small widths."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from graphtrial.core.hardware.threads import run, run_blocks
from graphtrial.ops.custom_op import array, empty, register_op
from graphtrial.ops.portable import uses_kernels
from graphtrial.ops.recording import recordable
from graphtrial.ops.vector_paths import has_vectors

MIN_SIZE = 12
"""Rows, inputs and outputs below which the kernels have no register tile."""
MIN_ROWS = 4096
"""Rows from which products without a register tile are computed by torch in blocks; below by plain loops."""
BLOCK_ROWS = 2048
"""Rows of such a block."""
SUM_ROWS, SUM_BLOCKS = 768, 16
"""Rows of a block of a sum over rows, at least, and the number of blocks, at most."""
PRODUCTS_PER_ELEMENT = 12
"""Multiply-adds that take as long as reading one element."""


@recordable
def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return x @ weight.T + bias. x: [rows, inputs], weight: [outputs, inputs], bias: [outputs] -> [rows, outputs].

    The compiled kernel is 1.1 to 1.3 times as fast as the BLAS of torch on one thread, whole or block by block, forward
    and backward (`kernels.matmul_tile`). Without vector instructions, and at widths that have no register tile, blocks
    of rows are multiplied by torch; matrices that are smaller than a register tile by plain loops.
    """
    if x.dim() != 2 or not uses_kernels(x) or x.dtype != weight.dtype or torch.is_autocast_enabled("cpu"):
        return F.linear(x, weight, bias)
    if not fits_tiles(x, weight) and len(x) < MIN_ROWS and not _is_small(x, weight):
        return F.linear(x, weight, bias)
    return _call(x, weight, bias)


def _is_small(x: Tensor, weight: Tensor) -> bool:
    """Return whether products of `x` [rows, inputs] and `weight` are computed by plain loops: a matter of shape."""
    return min(x.shape[0], *weight.shape) < MIN_SIZE and x.shape[0] < MIN_ROWS


def fits_tiles(x: Tensor, weight: Tensor) -> bool:
    """Return whether products of `x` [rows, inputs] and `weight`, and their gradients, use register tiles."""
    return min(x.shape[0], *weight.shape) >= MIN_SIZE and x.dtype == weight.dtype and has_vectors()


def matmul_into(x: Tensor, weight: Tensor, bias: Tensor | None, out: Tensor, *, transposed: bool) -> None:
    """Write x @ weight (+ bias), or x @ weight.T (+ bias) if `transposed`, to `out`."""
    from graphtrial.ops import kernels

    work = _work(x, weight)
    if fits_tiles(x, weight):
        added = None if bias is None else array(bias)
        run(kernels.matmul, work, array(x), array(weight), transposed, added, out.numpy())
        return
    if _is_small(x, weight):
        added = None if bias is None else array(bias)
        kernels.small_matmul(array(x), array(weight), transposed, added, out.numpy())
        return
    other = weight.t() if transposed else weight

    def product(begin: int) -> None:
        rows, into = x[begin : begin + BLOCK_ROWS], out[begin : begin + BLOCK_ROWS]
        if bias is None:
            torch.mm(rows, other, out=into)
        else:
            torch.addmm(bias, rows, other, out=into)

    run_blocks(product, range(0, len(x), BLOCK_ROWS), work)


def transposed_matmul(left: Tensor, right: Tensor) -> tuple[Tensor, Tensor]:
    """Return left.T @ right and the column sums of `left`, both summed over blocks of rows."""
    from graphtrial.ops import kernels

    blocks = max(1, min(SUM_BLOCKS, len(left) // SUM_ROWS))
    out = right.new_empty(blocks, left.shape[1], right.shape[1])
    sums = right.new_empty(blocks, left.shape[1])
    work = _work(left, right)
    if fits_tiles(left, out[0]):
        run(kernels.matmul_transposed, work, array(left), array(right), out.numpy(), sums.numpy())
    elif _is_small(left, out[0]):
        kernels.small_matmul_transposed(array(left), array(right), out[0].numpy(), sums[0].numpy())
        return out[0], sums[0]
    else:
        size = -(-len(left) // blocks)

        def product(number: int) -> None:
            rows = slice(number * size, (number + 1) * size)
            torch.mm(left[rows].t(), right[rows], out=out[number])
            torch.sum(left[rows], 0, out=sums[number])

        run_blocks(product, range(blocks), work)
    return (out[0], sums[0]) if blocks == 1 else (sum_of_blocks(out), sum_of_blocks(sums))


def sum_of_blocks(blocks: Tensor) -> Tensor:
    """Return the sum over the first dimension, in its order."""
    from graphtrial.ops import kernels

    out = blocks.new_empty(blocks.shape[1:])
    kernels.add_blocks(blocks.flatten(1).numpy(), out.view(-1).numpy())
    return out


def column_sums(x: Tensor) -> Tensor:
    """Return the sum of the rows of a matrix, [width]."""
    from graphtrial.ops import kernels

    out = x.new_empty(x.shape[1])
    kernels.column_sums(array(x), out.numpy())
    return out


def _work(x: Tensor, weight: Tensor) -> int:
    return x.shape[0] * x.shape[1] * weight.shape[1] // PRODUCTS_PER_ELEMENT


def _linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    out = empty(x, x.shape[0], weight.shape[0])
    matmul_into(x.detach(), weight.detach(), None if bias is None else bias.detach(), out, transposed=True)
    return out


def _fake(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    return x.new_empty(x.shape[0], weight.shape[0])


def _setup(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.has_bias = inputs[2] is not None
    ctx.save_for_backward(inputs[0], inputs[1])


def _backward(ctx: Any, grad_output: Tensor) -> tuple[Any, ...]:
    x, weight = ctx.saved_tensors
    grad_x = _call_input(grad_output, weight) if ctx.needs_input_grad[0] else None
    if not (ctx.needs_input_grad[1] or ctx.needs_input_grad[2]):
        return grad_x, None, None
    grad_weight, grad_bias = _call_weight(grad_output, x)
    return grad_x, grad_weight, grad_bias if ctx.has_bias else None


def _linear_input(grad_output: Tensor, weight: Tensor) -> Tensor:
    """Return the gradient of x, grad_output @ weight."""
    out = empty(grad_output, grad_output.shape[0], weight.shape[1])
    matmul_into(grad_output.detach(), weight.detach(), None, out, transposed=False)
    return out


def _fake_input(grad_output: Tensor, weight: Tensor) -> Tensor:
    return grad_output.new_empty(grad_output.shape[0], weight.shape[1])


def _linear_weight(grad_output: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """Return the gradients of weight, grad_output.T @ x, and of bias, the column sums of grad_output."""
    return transposed_matmul(grad_output.detach(), x.detach())


def _fake_weight(grad_output: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    return x.new_empty(grad_output.shape[1], x.shape[1]), x.new_empty(grad_output.shape[1])


def _row_sum(x: Tensor) -> Tensor:
    """Return the sum of the rows, [1, width]."""
    return column_sums(x).unsqueeze(0)


def _fake_sum(x: Tensor) -> Tensor:
    return x.new_empty(1, x.shape[1])


row_sum = register_op(_row_sum, _fake_sum)
_call = register_op(_linear, _fake, _setup, _backward)
_call_input = register_op(_linear_input, _fake_input)
_call_weight = register_op(_linear_weight, _fake_weight)
