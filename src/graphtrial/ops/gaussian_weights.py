"""Edge weights of MoNet: Gaussians of pseudo-coordinates that are computed from degrees."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from graphtrial.core.hardware.threads import run
from graphtrial.graphs import GraphBatch
from graphtrial.ops.custom_op import array, register_op
from graphtrial.ops.portable import full_precision, uses_kernels
from graphtrial.ops.recording import recordable


@recordable
@full_precision
def gaussian_weights(graph: GraphBatch, weight: Tensor, bias: Tensor, mean: Tensor, inverse: Tensor) -> Tensor:
    r"""Return the weight of each edge in each Gaussian of MoNet, [edges, kernels].

    .. math::
        u_{ji} = \tanh\big(weight \, [(d^{in}_j + 1)^{-1/2}, (d^{in}_i + 1)^{-1/2}] + bias\big), \qquad
        w_{ji}^k = \exp\big(-\tfrac{1}{2} \|(u_{ji} - mean_k) \odot inverse_k\|^2\big)

    weight: [2, 2], bias: [2], mean, inverse: [kernels, 2].
    """
    if not uses_kernels(mean):
        return gaussian_weights_reference(graph, weight, bias, mean, inverse)
    return _call(weight, bias, mean, inverse, graph.in_ptr, graph.edge_index[0])[0]


def gaussian_weights_reference(
    graph: GraphBatch, weight: Tensor, bias: Tensor, mean: Tensor, inverse: Tensor
) -> Tensor:
    """Portable path: elementwise functions of torch."""

    def compute() -> Tensor:
        return (graph.in_degree + 1).to(mean.dtype).rsqrt()[graph.edge_index].T.contiguous()

    degrees = graph.cached(f"degrees of endpoints {mean.dtype}", compute)
    u = F.linear(degrees, weight, bias).tanh().unsqueeze(1)
    return ((u - mean) * inverse).square().sum(dim=2).mul(-0.5).exp()


def _gaussian_weights(
    weight: Tensor, bias: Tensor, mean: Tensor, inverse: Tensor, in_ptr: Tensor, sender: Tensor
) -> tuple[Tensor, Tensor]:
    from graphtrial.ops import kernels

    out, u = _fake(weight, bias, mean, inverse, in_ptr, sender)
    parameters = array(weight), array(bias), array(mean), array(inverse)
    run(kernels.gaussian_weights, 8 * out.numel(), array(in_ptr), array(sender), *parameters, u.numpy(), out.numpy())
    return out, u


def _fake(
    weight: Tensor, bias: Tensor, mean: Tensor, inverse: Tensor, in_ptr: Tensor, sender: Tensor
) -> tuple[Tensor, Tensor]:
    return mean.new_empty(sender.shape[0], mean.shape[0]), mean.new_empty(sender.shape[0], 2)


def _setup(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    weight, _, mean, inverse, *pointers = inputs
    ctx.set_materialize_grads(False)
    ctx.mark_non_differentiable(output[1])
    ctx.save_for_backward(weight, mean, inverse, *pointers, *output)


def _backward(ctx: Any, grad_output: Tensor | None, _: Any) -> tuple[Any, ...]:
    if grad_output is None:
        return (None,) * 6
    return *_call_backward(grad_output, *ctx.saved_tensors), None, None


def _gaussian_weights_backward(
    grad_output: Tensor,
    weight: Tensor,
    mean: Tensor,
    inverse: Tensor,
    in_ptr: Tensor,
    sender: Tensor,
    gaussians: Tensor,
    u: Tensor,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    from graphtrial.ops import kernels

    grads = _fake_backward(grad_output, weight, mean, inverse)
    sums = np.empty((-(-(len(in_ptr) - 1) // kernels.GAUSSIAN_BLOCK), sum(grad.numel() for grad in grads)))
    inputs = array(mean), array(inverse), array(u), array(gaussians), array(grad_output)
    run(kernels.gaussian_gradients, 16 * grad_output.numel(), array(in_ptr), array(sender), *inputs, sums)
    kernels.add_gaussian_blocks(sums, *(grad.view(-1).numpy() for grad in grads))
    return grads


def _fake_backward(
    grad_output: Tensor, weight: Tensor, mean: Tensor, inverse: Tensor, *rest: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    return torch.empty_like(weight), weight.new_empty(2), torch.empty_like(mean), torch.empty_like(inverse)


_call = register_op(_gaussian_weights, _fake, _setup, _backward)
_call_backward = register_op(_gaussian_weights_backward, _fake_backward)
