"""Check a device: every operator and its gradient against the CPU, and the speed of a few models."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch import Tensor, nn

from graphtrial.core.hardware.compute import Compute
from graphtrial.core.hardware.devices import device_name, device_settings
from graphtrial.core.process import compute_settings, seed_everything
from graphtrial.doctor.finding import Finding
from graphtrial.graphs import Column, GraphBatch, GraphSet
from graphtrial.nn import Shapes, build_model
from graphtrial.ops import (
    add_row,
    aggregate,
    aggregate_messages,
    attention,
    attention_scores,
    batch_norm,
    clamped_attention,
    edge_add,
    edge_dot,
    edge_softmax,
    gated_mean,
    gaussian_weights,
    l2_normalize,
    linear,
    mixture_sum,
    modulated_relu,
    multi_aggregate,
    relu_sum,
    self_attention,
    tower_linear,
)
from graphtrial.ops.portable import portable_path
from graphtrial.ops.sparse_matrix import adjacency

Operator = Callable[..., Tensor]
WIDTH, HEADS, TYPES = 32, 4, 8
TOLERANCE = 1e-4
"""Largest difference from the CPU, relative to the largest number of the result."""
MODELS = ("gcn", "gin", "gat", "graphsage", "gatedgcn")
STEPS = 10

OPERATORS: dict[str, tuple[Operator, tuple[str, ...]]] = {
    "add_row": (lambda graph, x: add_row(x, x[0]), ("node",)),
    "aggregate sum": (lambda graph, x: aggregate(graph, x, "sum"), ("node",)),
    "aggregate mean": (lambda graph, x: aggregate(graph, x, "mean"), ("node",)),
    "aggregate max": (lambda graph, x: aggregate(graph, x, "max"), ("node",)),
    "aggregate weighted": (lambda graph, x, w: aggregate(graph, x, "sum", w[:, 0]), ("node", "edge")),
    "aggregate heads": (lambda graph, z, w: aggregate(graph, z, "sum", w[:, :HEADS]), ("heads", "edge")),
    "aggregate_messages sum": (lambda graph, m: aggregate_messages(graph, m, "sum"), ("edge",)),
    "aggregate_messages weighted": (
        lambda graph, m, w: aggregate_messages(graph, m.view(len(m), HEADS, -1), weight=w[:, :HEADS]),
        ("edge", "edge"),
    ),
    "aggregate_messages max": (lambda graph, m: aggregate_messages(graph, m, "max"), ("edge",)),
    "edge_add": (edge_add, ("node", "node")),
    "edge_dot": (edge_dot, ("heads", "heads")),
    "edge_softmax": (lambda graph, scores: edge_softmax(graph, scores[:, :HEADS]), ("edge",)),
    "attention": (lambda graph, z, s, t: attention(graph, z, s[0], t[0], 0.2), ("heads", "heads", "heads")),
    "attention_scores": (
        lambda graph, z, s, t: attention_scores(graph, z, s[0], t[0], 0.2),
        ("heads", "heads", "heads"),
    ),
    "clamped_attention": (
        lambda graph, q, k, v, e: _joined(
            *clamped_attention(adjacency(graph), q, k, v, 5.0, e.unflatten(1, (HEADS, -1)))
        ),
        ("heads", "heads", "heads", "edge"),
    ),
    "gaussian_weights": (
        lambda graph, x: gaussian_weights(graph, x[:2, :2], x[2, :2], x[:3, 2:4], x[:3, 4:6]),
        ("node",),
    ),
    "mixture_sum": (lambda graph, z, w: mixture_sum(graph, z, w[:, :HEADS]), ("heads", "edge")),
    "gated_mean": (lambda graph, s, t, e, v: gated_mean(graph, s, t, e, v)[0], ("node", "node", "edge", "node")),
    "relu_sum": (relu_sum, ("node", "edge")),
    "multi_aggregate": (  # without std: of one neighbour its gradient is rounding errors, times 300
        lambda graph, s, t, e: multi_aggregate(graph, s, t, e, ("mean", "max", "min", "sum"), HEADS),
        ("node", "node", "edge"),
    ),
    "tower_linear": (lambda graph, x: tower_linear(x, x[:16].reshape(2, 16, 16)), ("node",)),
    "self_attention": (
        lambda graph, q, k, v: self_attention(graph, torch.cat([q, k, v], dim=1), HEADS),
        ("node", "node", "node"),
    ),
    "batch_norm": (lambda graph, x, r: batch_norm(x, x[0], x[1], r, 1e-5, "elu")[0], ("node", "node")),
    "l2_normalize": (lambda graph, x: l2_normalize(x), ("node",)),
    "modulated_relu": (lambda graph, x, w, b: modulated_relu(x, torch.cat([w, b], dim=1)), ("node", "node", "node")),
    "linear": (lambda graph, x, w: linear(x, w[:WIDTH]), ("node", "node")),
}
"""Operators on a graph and on inputs of a row per node or per edge, or of several heads per node."""


def check_device(compute: Compute) -> Iterator[Finding]:
    """Check every operator of a device against the compiled kernels of the CPU, and time models on both.

    On the CPU the portable path of the operators is checked.
    """
    device = torch.device(compute.placed().device)
    graph = _graphs(200)
    area = f"device {device}"
    yield Finding(area, "name", "ok", device_name(device))
    with compute_settings(), device_settings(device):
        for name, (operator, levels) in OPERATORS.items():
            yield _compare(area, name, operator, levels, graph, device)
        for name in MODELS:
            here, there = (
                _step_seconds(name, graph, torch.device("cpu"), False),
                _step_seconds(name, graph, device, True),
            )
            result = f"{1000 * there:.1f} ms per training step, {1000 * here:.1f} ms by the kernels of one CPU core"
            yield Finding(area, f"speed of {name}", "ok", result)


def _compare(
    area: str, name: str, operator: Operator, levels: tuple[str, ...], graph: GraphBatch, device: torch.device
) -> Finding:
    expected = _run(operator, _inputs(levels, graph), graph)
    try:
        moved = graph.to(device)
        with portable_path():
            results = _run(operator, [x.to(device) for x in _inputs(levels, graph)], moved)
    except (RuntimeError, NotImplementedError) as error:
        advice = "please report this with the version of torch"
        return Finding(area, name, "wrong", f"it does not run: {str(error).splitlines()[0]}", advice)
    errors = [_error(ours, theirs) for ours, theirs in zip(results, expected, strict=True)]
    result = f"forward within {errors[0]:.0e} of the CPU, gradients within {max(errors[1:]):.0e}"
    advice = "" if max(errors) <= TOLERANCE else f"more than {TOLERANCE:.0e}: do not trust results of this device"
    return Finding(area, name, "wrong" if advice else "ok", result, advice)


def _run(operator: Operator, inputs: list[Tensor], graph: GraphBatch) -> list[Tensor]:
    """Return the result of an operator and the gradient of each of its inputs, on the CPU."""
    inputs = [x.detach().requires_grad_() for x in inputs]
    out = operator(graph, *inputs)
    (out * torch.arange(out.numel()).sin().view(out.shape).to(out.device)).sum().backward()
    return [out.detach().cpu(), *(x.grad.cpu() for x in inputs if x.grad is not None)]


def _error(ours: Tensor, theirs: Tensor) -> float:
    return float((ours - theirs).abs().max() / theirs.abs().max().clamp(min=1e-6))


def _joined(*outputs: Tensor) -> Tensor:
    return torch.cat([out.flatten(1) for out in outputs], dim=1)


def _inputs(levels: tuple[str, ...], graph: GraphBatch) -> list[Tensor]:
    generator = torch.Generator().manual_seed(0)
    rows = {"node": graph.num_nodes, "edge": graph.num_edges, "heads": graph.num_nodes}
    shapes = {"node": (WIDTH,), "edge": (WIDTH,), "heads": (HEADS, WIDTH // HEADS)}
    return [torch.randn(rows[level], *shapes[level], generator=generator) for level in levels]


def _graphs(count: int) -> GraphBatch:
    """Return random graphs of about the size of molecules."""
    rng = np.random.default_rng(0)
    nodes = rng.integers(10, 40, count)
    edges = 2 * nodes
    ends = np.concatenate([rng.integers(0, n, (2, m)) for n, m in zip(nodes, edges, strict=True)], axis=1)
    columns = {"x": Column(rng.integers(0, TYPES, int(nodes.sum())), "node", types=TYPES)}
    return GraphBatch.from_set(GraphSet.build(nodes, edges, ends, columns), np.arange(count))


def _step_seconds(name: str, graph: GraphBatch, device: torch.device, portable: bool) -> float:
    """Return the seconds of a training step after one that warms up."""
    seed_everything(0)
    model: nn.Module = build_model(name, Shapes(1, "graph", node_types=TYPES), {"width": 64, "layers": 4}).to(device)
    moved = graph.to(device)
    start = 0.0
    with portable_path(portable):
        for step in range(STEPS + 1):
            loss = model(moved).square().mean()
            loss.backward()
            if step in (0, STEPS):
                loss.item()  # wait for the device
                start = time.perf_counter() if step == 0 else time.perf_counter() - start
    return start / STEPS
