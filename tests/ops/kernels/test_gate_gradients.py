"""Gradients of gates, eight channels at a time, are those of the formula, with the bits of loops over rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from graphtrial.core.compiler import Array, compiled
from graphtrial.ops.kernels.gate_gradients import gate_gradients

WIDTH, ROWS = 40, 50


@compiled
def by_vectors(
    scale: Array,
    gate: Array,
    value: Array,
    mean: Array,
    out: Array,
    target: Array,
    source: Array,
    sent: Array,
    more: Array,
) -> None:
    for r in range(len(gate)):
        for k in range(0, WIDTH, 8):
            gate_gradients(
                scale, gate[r], value[r], mean, out[r], target, source[r], sent[r], k, more, r * WIDTH + k
            )  # fmt: skip


@compiled
def by_loops(
    scale: Array,
    gate: Array,
    value: Array,
    mean: Array,
    out: Array,
    target: Array,
    source: Array,
    sent: Array,
    more: Array,
) -> None:
    for r in range(len(gate)):
        into, g, v, sender, of_value = out[r], gate[r], value[r], source[r], sent[r]
        for k in range(WIDTH):
            into[k] = scale[k] * (v[k] - mean[k]) * g[k] * (1 - g[k])
        if more is not None:
            for k in range(WIDTH):
                into[k] += more[r, k]
        for k in range(WIDTH):
            target[k] += into[k]
            sender[k] += into[k]
        for k in range(WIDTH):
            of_value[k] += g[k] * scale[k]


def arrays(dtype: type, with_more: bool) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    shapes = dict.fromkeys(("gate", "value", "out", "source", "sent"), (ROWS, WIDTH))
    shapes |= dict.fromkeys(("scale", "mean", "target"), (WIDTH,))
    given: dict[str, Any] = {name: rng.normal(size=shape).astype(dtype) for name, shape in shapes.items()}
    given["gate"] = (1 / (1 + np.exp(-given["gate"]))).astype(dtype)
    return {**given, "more": rng.normal(size=(ROWS, WIDTH)).astype(dtype) if with_more else None}


@pytest.mark.kernels
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("with_more", [True, False])
def test_gradients_are_those_of_the_formula_with_the_bits_of_loops(dtype: type, with_more: bool) -> None:
    before, ours, theirs = (arrays(dtype, with_more) for _ in range(3))
    by_vectors(**ours)
    by_loops(**theirs)
    for name in ("out", "target", "source", "sent"):
        np.testing.assert_array_equal(ours[name], theirs[name])
    expected: npt.NDArray[Any] = before["scale"] * (before["value"] - before["mean"]) * before["gate"]
    expected = expected * (1 - before["gate"]) + (before["more"] if with_more else 0)
    tolerance = {"rtol": 1e-5, "atol": 1e-5} if dtype is np.float32 else {"rtol": 1e-12, "atol": 1e-12}
    np.testing.assert_allclose(ours["out"], expected, **tolerance)
    np.testing.assert_allclose(ours["target"], before["target"] + expected.sum(axis=0), **tolerance)
    np.testing.assert_allclose(ours["source"], before["source"] + expected, **tolerance)
    np.testing.assert_allclose(ours["sent"], before["sent"] + before["gate"] * before["scale"], **tolerance)
