"""The gated mean of GatedGCN."""

from __future__ import annotations

from graphtrial.compiler import Array, compiled


@compiled
def gate_logits(ptr: Array, index: Array, source: Array, target: Array, edge: Array, out: Array) -> None:
    """out[e] = source[index[e]] + target[i] + edge[e] for each entry e of row i."""
    rows, width = target.shape
    for i in range(rows):
        mine = target[i]
        for e in range(ptr[i], ptr[i + 1]):
            into, a, b = out[e], source[index[e]], edge[e]
            for k in range(width):
                into[k] = a[k] + mine[k] + b[k]


@compiled
def gated_mean(ptr: Array, index: Array, gate: Array, value: Array, epsilon: float, out: Array, inverse: Array) -> None:
    """out[i] = inverse[i] * sum of gate[e] * value[index[e]], where inverse[i] = 1 / (sum of gate[e] + epsilon)."""
    rows, width = out.shape
    for i in range(rows):
        top, bottom = out[i], inverse[i]
        for k in range(width):
            top[k] = 0
            bottom[k] = epsilon
        for e in range(ptr[i], ptr[i + 1]):
            g, v = gate[e], value[index[e]]
            for k in range(width):
                top[k] += g[k] * v[k]
                bottom[k] += g[k]
        for k in range(width):
            bottom[k] = 1 / bottom[k]
            top[k] *= bottom[k]


@compiled
def gated_mean_backward_rows(
    ptr: Array,
    index: Array,
    gate: Array,
    value: Array,
    mean: Array,
    inverse: Array,
    gradient: Array,
    extra: Array,
    logit_gradient: Array,
    share: Array,
    target_gradient: Array,
) -> None:
    """The gradient of the logits, to which `extra` is added, and its sum over rows; share = gradient * inverse."""
    rows, width = gradient.shape
    for i in range(rows):
        mine, total, centre = share[i], target_gradient[i], mean[i]
        for k in range(width):
            mine[k] = gradient[i, k] * inverse[i, k]
            total[k] = 0
        for e in range(ptr[i], ptr[i + 1]):
            into, g, v = logit_gradient[e], gate[e], value[index[e]]
            for k in range(width):
                into[k] = mine[k] * (v[k] - centre[k]) * g[k] * (1 - g[k])
            if extra is not None:
                more = extra[e]
                for k in range(width):
                    into[k] += more[k]
            for k in range(width):  # apart from the loop above, which would be too much for vector instructions
                total[k] += into[k]


@compiled
def gated_mean_backward_columns(
    ptr: Array,
    index: Array,
    order: Array,
    gate: Array,
    share: Array,
    logit_gradient: Array,
    source_gradient: Array,
    value_gradient: Array,
) -> None:
    """Sum, over the entries of each column, the gradient of the logits and gate * share."""
    columns, width = source_gradient.shape
    for j in range(columns):
        of_source, of_value = source_gradient[j], value_gradient[j]
        for k in range(width):
            of_source[k] = 0
            of_value[k] = 0
        for e in range(ptr[j], ptr[j + 1]):
            at = order[e]
            logit, g, mine = logit_gradient[at], gate[at], share[index[e]]
            for k in range(width):
                of_source[k] += logit[k]
                of_value[k] += g[k] * mine[k]
