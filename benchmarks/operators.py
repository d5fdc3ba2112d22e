"""Compiled operators against portable fallbacks and the library calls they replace: `python -m benchmarks.operators`.

Forward and backward pass on one core, interleaved; milliseconds are the lowest of all rounds in CPU time, so that other
processes matter little. An operator that wins less than a tenth has no reason to exist, unless the bits of several
threads need it. The portable fallback is the same operator without vector instructions where it has some.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from benchmarks.clamped import clamped_cases
from benchmarks.data import molecules, sbm_graphs, wiki_graph
from benchmarks.machine import pin_to_one_core
from benchmarks.principal import principal_cases
from benchmarks.tables import table
from graphtrial.core.process import compute_settings
from graphtrial.graphs import Column, GraphBatch, GraphSet
from graphtrial.ops import (
    aggregate,
    attention,
    batch_norm,
    dropout,
    edge_dot,
    edge_softmax,
    gated_mean,
    gaussian_weights,
    l2_normalize,
    linear,
    mixture_sum,
    modulated_relu,
)
from graphtrial.ops.modulated_relu import modulated_relu_reference
from graphtrial.ops.vector_paths import force_vectors
from graphtrial.training.optim.fused import FusedAdam

HEADS, KERNELS = 8, 3
Function = Callable[..., Tensor]


@dataclass(frozen=True)
class Case:
    """An operator, the library call it replaces, and the inputs of both; `twin` where it has vector instructions."""

    name: str
    ours: Function
    library: Function
    inputs: tuple[Tensor, ...]
    twin: bool = False


def workloads(quick: bool) -> Iterator[tuple[str, GraphSet, int]]:
    """Yield name, graphs of one batch and width: ZINC-like, a quarter of a batch of PATTERN, Wiki-CS, CSL."""
    yield "ZINC", molecules(16 if quick else 128), 145
    yield "PATTERN", sbm_graphs(2 if quick else 32), 146
    yield "Wiki-CS", wiki_graph(shrink=40 if quick else 1), 120
    ring = np.arange(41)
    ends = np.concatenate([np.stack([ring, (ring + step) % 41]) for step in (1, 40, 9, 32)], axis=1)
    yield "CSL", GraphSet.build([41] * 5, [164] * 5, np.tile(ends, 5), {"y": Column(np.zeros(5), "graph")}), 90


def cases(graph: GraphBatch, width: int) -> Iterator[Case]:
    """Yield the operators on one batch."""
    sender, receiver = graph.edge_index
    nodes, edges, size = graph.num_nodes, graph.num_edges, width // HEADS
    x, e, weight, bias = (torch.randn(*shape) for shape in ((nodes, width), (edges, width), (width, width), (width,)))
    heads, vectors = torch.randn(nodes, HEADS, size), torch.randn(2, HEADS, size)
    scale, scores = torch.rand(edges), torch.randn(edges, HEADS)
    index = receiver.unsqueeze(1).expand(-1, HEADS)
    sparse = torch.sparse_csr_tensor(graph.in_ptr, sender, scale, (nodes, nodes), check_invariants=False)
    transposed = sparse.t().to_sparse_csr()

    def softmax(scores: Tensor) -> Tensor:
        top = scores.new_zeros(nodes, HEADS).scatter_reduce(0, index, scores.detach(), "amax", include_self=False)
        alpha = (scores - top.gather(0, index)).exp()
        return alpha / torch.zeros_like(top).scatter_add(0, index, alpha).gather(0, index)

    def gat(z: Tensor, source: Tensor, target: Tensor) -> Tensor:
        scores = (z * source).sum(2).index_select(0, sender) + (z * target).sum(2).index_select(0, receiver)
        alpha = softmax(F.leaky_relu(scores, 0.2)).unsqueeze(2)
        return torch.zeros_like(z).index_add(0, receiver, alpha * z.index_select(0, sender))

    def mixture(z: Tensor, weight: Tensor) -> Tensor:
        messages = (weight.unsqueeze(2) * z.index_select(0, sender)).sum(1)
        return z.new_zeros(nodes, z.shape[2]).index_add(0, receiver, messages)

    def gaussians(weight: Tensor, bias: Tensor, mean: Tensor, inverse: Tensor) -> Tensor:
        ends = (graph.in_degree + 1).float().rsqrt()[graph.edge_index].T
        u = F.linear(ends, weight, bias).tanh().unsqueeze(1)
        return ((u - mean) * inverse).square().sum(dim=2).mul(-0.5).exp()

    def gates(source: Tensor, target: Tensor, e: Tensor, value: Tensor, weight: Tensor) -> Tensor:
        gate = (source.index_select(0, sender) + target.index_select(0, receiver) + e @ weight.t()).sigmoid()
        zeros = torch.zeros_like(value)
        top = zeros.index_add(0, receiver, gate * value.index_select(0, sender))
        return top / (zeros.index_add(0, receiver, gate) + 1e-6)

    def maxima(x: Tensor) -> Tensor:
        wide = receiver.unsqueeze(1).expand(-1, width)
        return torch.zeros_like(x).scatter_reduce(0, wide, x.index_select(0, sender), "amax", include_self=False)

    class Sparse(torch.autograd.Function):
        @staticmethod
        def forward(ctx: object, x: Tensor) -> Tensor:
            return sparse @ x

        @staticmethod
        def backward(ctx: object, grad: Tensor) -> Tensor:
            return transposed @ grad

    for principal in principal_cases(graph, width):
        yield Case(*principal)
    for clamped in clamped_cases(graph, width):
        yield Case(*clamped)
    yield Case("linear", linear, F.linear, (x, weight, bias), twin=True)
    yield Case("SpMM (torch.sparse)", lambda x: aggregate(graph, x, "sum", scale), Sparse.apply, (x,), twin=True)
    yield Case("SpMM max (scatter_reduce)", lambda x: aggregate(graph, x, "max"), maxima, (x,))
    yield Case(
        "SDDMM (gather)",
        lambda t, s: edge_dot(graph, t, s),
        lambda t, s: (t.index_select(0, receiver) * s.index_select(0, sender)).sum(2),
        (heads, heads.clone()),
    )
    yield Case("edge softmax (scatter)", lambda s: edge_softmax(graph, s), softmax, (scores,))
    yield Case(
        "GAT attention (gather, scatter)",
        lambda z, s, t: attention(graph, z, s, t, 0.2),
        gat,
        (heads, *vectors.unbind()),
        twin=True,
    )
    yield Case(
        "mixture sum, 3 kernels (gather, index_add)",
        lambda z, w: mixture_sum(graph, z, w),
        mixture,
        (torch.randn(nodes, KERNELS, width), torch.rand(edges, KERNELS)),
        twin=True,
    )
    yield Case(
        "Gaussian weights, 3 kernels (elementwise)",
        lambda *parameters: gaussian_weights(graph, *parameters),
        gaussians,
        (torch.randn(2, 2), torch.randn(2), torch.randn(KERNELS, 2), torch.rand(KERNELS, 2)),
    )
    yield Case(
        "gated mean (gather, scatter)",
        lambda s, t, e, v, w: gated_mean(graph, s, t, e, v, w)[0],
        gates,
        (x, x.clone(), e, x.clone(), weight),
        twin=True,
    )
    yield Case(
        "batch norm, ReLU, residual",
        lambda x, w, b, r: batch_norm(x, w, b, r, 1e-5, "relu")[0],
        lambda x, w, b, r: F.batch_norm(x, None, None, w, b, training=True).relu() + r,
        (x, bias, bias.clone(), x.clone()),
    )
    yield Case(
        "modulated ReLU of GRIT (elementwise)",
        modulated_relu,
        modulated_relu_reference,
        (x, torch.randn(nodes, 2 * width)),
    )
    yield Case("L2 normalize", l2_normalize, F.normalize, (x,))
    yield Case("dropout", lambda x: dropout(x, 0.5), lambda x: F.dropout(x, 0.5), (x,))


def adam_case(width: int) -> tuple[Callable[[], None], Callable[[], None]]:
    """Return one step of our Adam and one of torch's fused Adam, on the parameters of four layers."""
    steps = []
    for kind in (FusedAdam, lambda parameters, lr: torch.optim.Adam(parameters, lr=lr, fused=True)):
        parameters = [torch.nn.Parameter(torch.randn(width, width)) for _ in range(4)]
        for parameter in parameters:
            parameter.grad = torch.randn(width, width)
        steps.append(kind(parameters, lr=1e-3).step)
    return steps[0], steps[1]


def measure(functions: list[Callable[[], object]], rounds: int) -> list[float]:
    """Return the lowest milliseconds of CPU time of each function over interleaved rounds."""
    seconds = [float("inf")] * len(functions)
    for _ in range(rounds + 1):
        for at, function in enumerate(functions):
            start = time.thread_time()
            function()
            seconds[at] = min(seconds[at], 1e3 * (time.thread_time() - start))
    return seconds


def _step(function: Function, inputs: tuple[Tensor, ...], vectors: bool | None) -> Callable[[], None]:
    ours = [value.clone().requires_grad_() for value in inputs]
    with torch.no_grad():
        grad = torch.randn_like(function(*ours))

    def step() -> None:
        out = function(*ours)
        torch.autograd.grad(out, ours, grad)

    def forced() -> None:
        with force_vectors(bool(vectors)):
            step()

    return step if vectors is None else forced


def rows(quick: bool) -> Iterator[list[str]]:
    """Yield the rows of the table."""
    for name, graphs, width in workloads(quick):
        graph = GraphBatch.from_set(graphs, np.arange(len(graphs)))
        rounds = 1 if quick else 5 if graph.num_edges > 50_000 else 20
        for case in cases(graph, width):
            functions = [_step(case.ours, case.inputs, True if case.twin else None)]
            functions += [_step(case.ours, case.inputs, False)] if case.twin else []
            ours, *twin, library = measure([*functions, _step(case.library, case.inputs, None)], rounds)
            beside = [f"{twin[0]:.3g}", f"{twin[0] / ours:.2f} x"] if twin else ["-", "-"]
            yield [
                f"{name}, width {width}",
                case.name,
                f"{ours:.3g}",
                *beside,
                f"{library:.3g}",
                f"{library / ours:.2f} x",
            ]
        ours, library = measure([*adam_case(width)], 5 * rounds)
        yield [f"{name}, width {width}", "Adam", f"{ours:.3g}", "-", "-", f"{library:.3g}", f"{library / ours:.2f} x"]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.operators", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smoke test on tiny graphs")
    options = parser.parse_args()
    pin_to_one_core()
    head = ["batch", "operator (library call)", "ms", "portable twin", "twin / ours", "library", "library / ours"]
    with compute_settings(threads=1):
        print(table(head, list(rows(options.quick))))


if __name__ == "__main__":
    main()
