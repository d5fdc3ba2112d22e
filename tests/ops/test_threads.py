"""The bits of every operator and of its gradients do not depend on the number of threads."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
import torch
from torch import Tensor

from graphtrial import ops
from graphtrial.core.hardware import threads
from graphtrial.core.process import compute_settings
from graphtrial.graphs import Column, GraphBatch, GraphSet
from graphtrial.ops import (
    add_row,
    aggregate,
    aggregate_messages,
    attention,
    attention_scores,
    batch_norm,
    clamped_attention,
    dropout,
    edge_add,
    edge_dot,
    edge_softmax,
    feature_linear,
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
from graphtrial.ops.sparse_matrix import adjacency

NODES, WIDTH = 2100, 21


@cache
def batch(graphs: int) -> GraphBatch:
    """Return `graphs` random graphs with `NODES` nodes in total, one of them without in-edges."""
    rng = np.random.default_rng(0)
    size = NODES // graphs
    ends = rng.integers(0, size, (2, 8 * NODES))
    ends[1] = np.maximum(ends[1], 1)
    columns = {"y": Column(np.zeros(graphs), "graph")}
    graph_set = GraphSet.build([size] * graphs, [8 * NODES // graphs] * graphs, ends, columns)
    return GraphBatch.from_set(graph_set, np.arange(graphs))


def tensor(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


GRAPHS = {"batch": 30, "single graph": 1}
Case = tuple[Callable[..., Tensor | tuple[Tensor, ...]], list[Tensor]]


def _case(name: str, graph: GraphBatch) -> Case:
    edges = graph.num_edges
    x, e = tensor(NODES, WIDTH), tensor(edges, WIDTH, seed=1)
    heads = tensor(NODES, 4, WIDTH)
    vectors = [tensor(WIDTH, seed=seed) for seed in (2, 3)]
    weight = tensor(WIDTH, WIDTH, seed=4)
    nodes = [tensor(NODES, WIDTH, seed=seed) for seed in (5, 6)]
    cases: dict[str, Case] = {
        "sum": (lambda x, w, s: aggregate(graph, x, "sum", w, s), [x, tensor(edges), tensor(1)[0]]),
        "narrow sum": (lambda x, w: aggregate(graph, x, "sum", w), [x[:, :3].contiguous(), tensor(edges)]),
        "sum with heads": (lambda x, w: aggregate(graph, x, "sum", w), [heads, tensor(edges, 4)]),
        "max": (lambda x: aggregate(graph, x, "max"), [x]),
        "linear": (linear, [x, tensor(30, WIDTH), tensor(30)]),
        "narrow linear": (linear, [tensor(9000, WIDTH), tensor(2, WIDTH), tensor(2)]),
        "feature linear": (
            lambda w: feature_linear((tensor(NODES, 200) > 1.5).float(), w, p=0.5),
            [tensor(16, 200, seed=1)],
        ),
        "softmax": (lambda s: edge_softmax(graph, s), [tensor(edges, 2)]),
        "attention": (
            lambda z, s, t: attention(graph, z, s, t, 0.2),
            [heads, tensor(4, WIDTH, seed=1), tensor(4, WIDTH, seed=2)],
        ),
        "attention with one head": (
            lambda z, s, t: attention(graph, z, s, t, 0.2),
            [heads[:, :1].contiguous(), tensor(1, WIDTH, seed=1), tensor(1, WIDTH, seed=2)],
        ),
        "attention scores": (
            lambda z, s, t: attention_scores(graph, z, s, t, 0.2),
            [heads, tensor(4, WIDTH, seed=1), tensor(4, WIDTH, seed=2)],
        ),
        "Gaussian weights": (
            lambda *parameters: gaussian_weights(graph, *parameters),
            [tensor(2, 2), tensor(2), tensor(3, 2, seed=1), tensor(3, 2, seed=2)],
        ),
        "mixture sum": (lambda z, w: mixture_sum(graph, z, w), [heads, tensor(edges, 4)]),
        "added row": (add_row, [x, vectors[0]]),
        "gated mean": (lambda s, t, e, v: gated_mean(graph, s, t, e, v), [x, nodes[0], e, nodes[1]]),
        "gated mean with weights": (
            lambda s, t, e, v, w, b: gated_mean(graph, s, t, e, v, w, b),
            [x, nodes[0], e, nodes[1], weight, vectors[0]],
        ),
        "narrow gated mean with weights": (
            lambda s, t, e, v, w: gated_mean(graph, s, t, e, v, w),
            [*(rows[:, :5].contiguous() for rows in (x, nodes[0], e, nodes[1])), weight[:5, :5].contiguous()],
        ),
        "batch norm": (lambda x, w, b, r: batch_norm(x, w, b, r, 1e-5, "relu"), [x, *vectors, nodes[0]]),
        "batch norm of edges": (lambda x, w, b: batch_norm(x, w, b, None, 1e-5, "elu"), [e, *vectors]),
        "L2 normalize": (l2_normalize, [x]),
        "modulated ReLU": (modulated_relu, [x, tensor(NODES, 2 * x.shape[1], seed=1)]),
        "weighted messages": (
            lambda m, w: aggregate_messages(graph, m, weight=w),
            [tensor(edges, 4, WIDTH), tensor(edges, 4)],
        ),
        "sum of ReLU": (lambda x, e: relu_sum(graph, x, e), [x, e]),
        "towers": (tower_linear, [tensor(NODES, 60), tensor(4, 14, 15), tensor(4, 14)]),
        "aggregators": (
            lambda s, t, e: multi_aggregate(graph, s, t, e, ("mean", "max", "min", "std"), 3),
            [x, nodes[0], e],
        ),
        "self-attention": (lambda x: self_attention(graph, x, 4, 0.3), [tensor(NODES, 60)]),
        "dropout": (lambda x: dropout(x, 0.3), [x]),
        "edge sum": (lambda s, t: edge_add(graph, s, t), [x, nodes[0]]),
        "clamped attention": (
            lambda *inputs: clamped_attention(adjacency(graph), *inputs[:3], 5.0, *inputs[3:]),
            [tensor(rows, 4, 10, seed=seed) for seed, rows in enumerate((NODES, NODES, NODES, edges))],
        ),
        "clamped attention without edge states": (
            lambda *inputs: clamped_attention(adjacency(graph), *inputs, 5.0),
            [tensor(NODES, 4, 10, seed=seed) for seed in range(3)],
        ),
        "edge dot product": (lambda t, s: edge_dot(graph, t, s), [heads, tensor(NODES, 4, WIDTH, seed=1)]),
    }
    return cases[name]


NAMES = [
    *("sum", "narrow sum", "sum with heads", "max", "linear", "narrow linear", "feature linear", "softmax"),
    *("attention", "attention with one head", "gated mean", "gated mean with weights"),
    *("narrow gated mean with weights", "batch norm", "batch norm of edges", "L2 normalize", "dropout"),
    *("attention scores", "Gaussian weights", "mixture sum", "added row"),
    *("edge sum", "edge dot product", "sum of ReLU", "self-attention", "towers", "aggregators"),
    *("modulated ReLU", "weighted messages", "clamped attention", "clamped attention without edge states"),
]


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("name", NAMES)
def test_bits_do_not_depend_on_the_number_of_threads(name: str, graph: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "MIN_WORK", 1)
    function, inputs = _case(name, batch(GRAPHS[graph]))
    results = {number: _values_and_gradients(function, inputs, number) for number in (1, 2, 3, 4)}
    assert all(value.abs().sum() > 0 for value in results[1])
    for number in (2, 3, 4):
        for value, expected in zip(results[number], results[1], strict=True):
            assert torch.equal(value, expected)


def _values_and_gradients(
    function: Callable[..., Tensor | tuple[Tensor, ...]], inputs: list[Tensor], number: int
) -> list[Tensor]:
    torch.manual_seed(0)
    ours = [value.clone().requires_grad_() for value in inputs]
    with compute_settings(threads=number):
        out = function(*ours)
        outputs = out if isinstance(out, tuple) else (out,)
        differentiable = [value for value in outputs if value.requires_grad]
        torch.autograd.backward(differentiable, [tensor(*value.shape, seed=7) for value in differentiable])
    return [*(value.detach() for value in outputs), *(value.grad for value in ours if value.grad is not None)]


WITHOUT_BLOCKS = {"dropout_mask", "self_loop_scales", "sparse_features", "symmetric_weight"}
"""Functions that compute by operators above, or by torch alone."""


def test_every_operator_is_among_them() -> None:
    assert set(ops.__all__) - set(globals()) == WITHOUT_BLOCKS
