"""Vector instructions match their portable fallbacks, with gradients; either path can be forced."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from tests.helpers.samples import batch_of, random_graphs, vectors
from torch import Tensor

from graphtrial.ops import (
    aggregate,
    attention,
    gated_mean,
    linear,
    mixture_sum,
    multi_aggregate,
    tower_linear,
    vector_paths,
)
from graphtrial.ops.linear import MIN_ROWS
from graphtrial.ops.vector_paths import force_vectors, has_vectors

BATCH = batch_of(random_graphs(12, 3, max_nodes=30))
NODES, EDGES = BATCH.num_nodes, BATCH.num_edges
CASES: dict[str, tuple[Callable[..., Tensor], list[Tensor]]] = {
    "linear": (linear, [vectors(300, 20), vectors(30, 20, 1), vectors(1, 30, 2)[0]]),
    "tall linear": (linear, [vectors(MIN_ROWS + 7, 13), vectors(17, 13, 1), vectors(1, 17, 2)[0]]),
    "towers": (tower_linear, [vectors(300, 60), vectors(42, 20, 1).reshape(3, 14, 20), vectors(3, 14, 2)]),
    "aggregators": (
        lambda s, t, e: multi_aggregate(BATCH, s, t, e, ("mean", "max", "min", "std"), 3),
        [vectors(NODES, 21), vectors(NODES, 21, 1), vectors(EDGES, 21, 2)],
    ),
    "sum": (
        lambda x, w, s: aggregate(BATCH, x, "sum", w, s[0, 0]),
        [vectors(NODES, 20), vectors(1, EDGES)[0], vectors(1, 1)],
    ),
    "sum with heads": (
        lambda x, w: aggregate(BATCH, x, "sum", w),
        [vectors(NODES, 60).reshape(NODES, 3, 20), vectors(EDGES, 3)],
    ),
    "attention": (
        lambda z, s, t: attention(BATCH, z, s, t, 0.2),
        [vectors(NODES, 60).reshape(NODES, 3, 20), vectors(3, 20, 1), vectors(3, 20, 2)],
    ),
    "mixture sum": (
        lambda z, w: mixture_sum(BATCH, z, w),
        [vectors(NODES, 60).reshape(NODES, 3, 20), vectors(EDGES, 3)],
    ),
    "gated mean": (
        lambda s, t, e, v, w: torch.cat(gated_mean(BATCH, s, t, e, v, w)),
        [*(vectors(rows, 20, at) for at, rows in enumerate((NODES, NODES, EDGES, NODES))), vectors(20, 20, 5)],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_vector_and_portable_paths_agree(name: str) -> None:
    function, inputs = CASES[name]
    results = []
    for use in (True, False):
        ours = [value.clone().requires_grad_() for value in inputs]
        with force_vectors(use):
            assert has_vectors() is use
            out = function(*ours)
            out.backward(vectors(*out.flatten(1).shape, 9).view_as(out))
        results.append([out.detach(), *(value.grad for value in ours)])
    torch.testing.assert_close(results[0], results[1])


@pytest.mark.parametrize(
    ("machine", "features", "expected"),
    [
        ("x86_64", {"avx2": True, "fma": True}, True),
        ("x86_64", {"avx2": True, "fma": True, "avx512f": True}, True),
        ("x86_64", {"sse4.2": True}, False),
        ("aarch64", {"neon": True}, True),
        ("riscv64", {}, False),
    ],
)
def test_processor_selects_the_path(
    machine: str, features: dict[str, bool], expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.machine", lambda: machine)
    monkeypatch.setattr("llvmlite.binding.get_host_cpu_features", lambda: features)
    assert vector_paths._has_registers.__wrapped__() is expected
