"""Autograd functions on node pairs that save fewer activations and touch memory less often than torch's."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from graphtrial.core.hardware.threads import MIN_WORK, run_blocks
from graphtrial.graphs.pairs.buckets import MAX_PARTS, Bucket
from graphtrial.ops.linear import PRODUCTS_PER_ELEMENT


def product_block(
    flat: Tensor, mlps: list[Tensor], skip_input: Tensor, skip_product: Tensor, channels: int, bucket: Bucket
) -> Tensor:
    """Return W h + V (A . B), A and B the outputs of two MLPs on h, multiplied as matrices per channel.

    flat: [columns, pairs]; mlps: [2, rows, columns], then [2, rows, rows] each; skip_input: [rows, columns];
    skip_product: [rows, rows] -> [rows, pairs]. The first `channels` rows are multiplied.
    """
    out: Tensor = _ProductBlock.apply(flat, skip_input, skip_product, channels, bucket, *mlps)
    return out


def multiply(factors: Tensor, channels: int, bucket: Bucket) -> Tensor:
    """Return the matrix product of both factors, per channel and graph.

    factors: [2, rows, pairs], of which the first `channels` rows count -> [rows, pairs], 0 in all other rows.
    """
    out: Tensor = _Multiply.apply(factors, channels, bucket)
    return out


def spread(columns: Tensor, at: Tensor, pairs: int) -> Tensor:
    """Scatter columns to pairs: the pairs `at` get a column each, in order, all others the last one.

    columns: [..., entries + 1] -> [..., pairs].
    """
    out: Tensor = _Spread.apply(columns, at, pairs)
    return out


class _ProductBlock(torch.autograd.Function):
    """Threads share groups of graphs, which are independent; gradients of weights are summed in order."""

    @staticmethod
    def forward(
        ctx: Any, flat: Tensor, skip_input: Tensor, skip_product: Tensor, channels: int, bucket: Bucket, *maps: Tensor
    ) -> Tensor:
        out = flat.new_empty(len(skip_input), bucket.pairs)

        def compute(part: Bucket) -> list[Tensor]:
            columns = flat[:, part.start : part.start + part.pairs]
            paths = [torch.mm(maps[0].flatten(0, 1), columns).relu_().view(2, len(skip_input), -1)]
            for weight in maps[1:]:
                paths.append(torch.bmm(weight, paths[-1]).relu_())
            product = _multiplied(paths[-1], channels, part)
            into = out[:, part.start : part.start + part.pairs]
            torch.mm(skip_input, columns, out=into).addmm_(skip_product, product)
            return [product, *paths]

        parts = bucket.parts
        saved = run_blocks(compute, parts, _work(bucket, maps))
        ctx.channels, ctx.parts, ctx.depth = channels, parts, len(maps)
        ctx.work = _work(bucket, maps)
        ctx.save_for_backward(flat, skip_input, skip_product, *maps, *[tensor for group in saved for tensor in group])
        return out

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor | None, ...]:
        flat, skip_input, skip_product, *rest = ctx.saved_tensors
        maps, saved = rest[: ctx.depth], rest[ctx.depth :]
        grad_flat = torch.empty_like(flat)
        each = 1 + ctx.depth

        def compute(number: int) -> list[Tensor]:
            part = ctx.parts[number]
            place = slice(part.start, part.start + part.pairs)
            product, *paths = saved[each * number : each * (number + 1)]
            weights = skip_input, skip_product, maps
            columns = grad_output[:, place], flat[:, place], product, paths
            return _block_gradients(*columns, *weights, ctx.channels, part, grad_flat[:, place])

        totals, *others = run_blocks(compute, range(len(ctx.parts)), 2 * ctx.work)
        for gradients in others:
            for total, gradient in zip(totals, gradients, strict=True):
                total.add_(gradient)
        grad_skip_input, grad_skip_product, *grad_maps = totals
        return grad_flat, grad_skip_input, grad_skip_product, None, None, *grad_maps


def _work(bucket: Bucket, maps: tuple[Tensor, ...]) -> int:
    return bucket.pairs * sum(weight.numel() for weight in maps) // PRODUCTS_PER_ELEMENT


def _block_gradients(
    grad_output: Tensor,
    flat: Tensor,
    product: Tensor,
    paths: list[Tensor],
    skip_input: Tensor,
    skip_product: Tensor,
    maps: list[Tensor],
    channels: int,
    bucket: Bucket,
    grad_flat: Tensor,
) -> list[Tensor]:
    """Return the gradients of skip_input, skip_product and maps, and write that of the state to `grad_flat`."""
    rows, pairs = grad_output.shape
    # Max pooling after the last block gives a nonzero gradient to a few pairs only. Counting them would make the host
    # wait for another device.
    on_cpu = grad_output.device.type == "cpu"
    nonzero = grad_output.abs().sum(0).nonzero().squeeze(1) if on_cpu else grad_output.new_empty(0)
    some = on_cpu and 2 * len(nonzero) < pairs
    if some:
        grad_output, product, nonzero_flat = (x.index_select(1, nonzero) for x in (grad_output, product, flat))
    grad_skip_product = torch.mm(grad_output, product.t())
    grad_multiplied = torch.mm(skip_product.t(), grad_output)
    if some:
        grad_multiplied = grad_output.new_zeros(rows, pairs).index_add_(1, nonzero, grad_multiplied)

    # The gradient of h comes from both MLPs and W: concatenated, it is one product instead of three.
    joined = grad_output.new_empty((2 if some else 3) * rows, pairs)
    first = joined[: 2 * rows].view_as(paths[0])
    back = first if len(maps) == 1 else torch.empty_like(paths[-1])
    _multiplied_backward(grad_multiplied, paths[-1], channels, bucket, back)
    grad_maps: list[Tensor] = []
    for at in range(len(maps) - 1, 0, -1):
        _relu_backward_(back, paths[at])
        grad_maps.insert(0, torch.bmm(back, paths[at - 1].transpose(1, 2)))
        back = torch.bmm(maps[at].transpose(1, 2), back, out=first if at == 1 else torch.empty_like(back))
    _relu_backward_(first, paths[0])
    weight = maps[0].flatten(0, 1)
    if some:
        torch.mm(weight.t(), joined, out=grad_flat)
        grad_flat.index_add_(1, nonzero, torch.mm(skip_input.t(), grad_output))
        grad_first, grad_skip_input = torch.mm(joined, flat.t()), torch.mm(grad_output, nonzero_flat.t())
    else:
        joined[2 * rows :] = grad_output
        torch.mm(torch.cat([weight, skip_input]).t(), joined, out=grad_flat)
        grad_first, grad_skip_input = torch.mm(joined, flat.t()).split([2 * rows, rows])
    return [grad_skip_input, grad_skip_product, grad_first.view_as(maps[0]), *grad_maps]


class _Multiply(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, paths: Tensor, channels: int, bucket: Bucket) -> Tensor:
        ctx.channels, ctx.bucket = channels, bucket
        ctx.save_for_backward(paths)
        return _multiplied(paths, channels, bucket)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, None, None]:
        (paths,) = ctx.saved_tensors
        out = torch.empty_like(paths)
        _multiplied_backward(grad_output, paths, ctx.channels, ctx.bucket, out)
        return out, None, None


def _multiplied(paths: Tensor, channels: int, bucket: Bucket) -> Tensor:
    left, right = _matrices(paths, channels, bucket)
    out = torch.empty_like(paths[0])
    out[channels:] = 0
    _bmm_into(_without_padding(left, bucket), right, out[:channels].view_as(left))
    return out


def _multiplied_backward(grad_output: Tensor, paths: Tensor, channels: int, bucket: Bucket, out: Tensor) -> None:
    """Write the gradients of both paths to `out`."""
    left, right = _matrices(paths, channels, bucket)
    grad_left, grad_right = _matrices(out, channels, bucket)
    matrices = grad_output[:channels].contiguous().view_as(left)
    out[:, channels:] = 0
    _bmm_into(matrices, right.transpose(1, 2), grad_left)
    if bucket.present is not None:
        grad_left.copy_(_without_padding(grad_left, bucket))
    _bmm_into(_without_padding(left, bucket).transpose(1, 2), matrices, grad_right)


def _bmm_into(left: Tensor, right: Tensor, out: Tensor) -> None:
    """Write the products of both batches of matrices to `out`; threads share the batch."""
    work = out.numel() * left.shape[2] // PRODUCTS_PER_ELEMENT
    size = max(1, -(-len(left) // min(MAX_PARTS, 1 + work // MIN_WORK)))

    def multiply(first: int) -> None:
        torch.bmm(left[first : first + size], right[first : first + size], out=out[first : first + size])

    run_blocks(multiply, range(0, len(left), size), work)


def _relu_backward_(grad_output: Tensor, out: Tensor) -> None:
    """Zero the gradient in place where the output of ReLU is 0."""
    torch.ops.aten.threshold_backward.grad_input(grad_output, out, 0, grad_input=grad_output)


def _matrices(paths: Tensor, channels: int, bucket: Bucket) -> tuple[Tensor, Tensor]:
    """Return the channels of both paths as matrices, [channels * graphs, size, size]."""
    left, right = (path[:channels].view(-1, bucket.size, bucket.size) for path in paths)
    return left, right


def _without_padding(matrices: Tensor, bucket: Bucket) -> Tensor:
    """Zero the columns of padding nodes."""
    if bucket.present is None:
        return matrices
    apart = matrices.view(-1, bucket.graphs, bucket.size, bucket.size)
    return (apart * bucket.present.to(matrices.dtype).unsqueeze(1)).view_as(matrices)


class _Spread(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, columns: Tensor, at: Tensor, pairs: int) -> Tensor:
        ctx.save_for_backward(at)
        last = columns[..., -1:]
        out = last.expand(*columns.shape[:-1], pairs).clone(memory_format=torch.contiguous_format)
        return out.index_add_(-1, at, columns[..., :-1] - last)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, None, None]:
        (at,) = ctx.saved_tensors
        own = grad_output.index_select(-1, at)
        rest = grad_output.sum(-1, keepdim=True) - own.sum(-1, keepdim=True)
        return torch.cat([own, rest], dim=-1), None, None
