"""Gated mean of GatedGCN over a chunk of rows.

`ptr` [rows + 1] and row arrays cover the rows of the chunk; entry arrays start with the first entry of the chunk;
`source`, `value` and their gradients cover all columns.
"""

from __future__ import annotations

from graphtrial.core.compiler import Array, compiled
from graphtrial.ops.kernels.exponential import sigmoid


@compiled
def gated_mean(
    ptr: Array,
    index: Array,
    source: Array,
    target: Array,
    value: Array,
    accumulate: bool,
    epsilon: float,
    logits: Array,
    gate: Array,
    mean: Array,
    inverse: Array,
) -> None:
    """logits = source[index] + target (added to the present logits if `accumulate`); gate = sigmoid(logits).

    mean[i] = inverse[i] * sum of gate[e] * value[index[e]], where inverse[i] = 1 / (sum of gate[e] + epsilon).
    """
    rows, width = target.shape
    base = ptr[0]
    for i in range(rows):
        target_row = target[i]
        for e in range(ptr[i] - base, ptr[i + 1] - base):
            into, a = logits[e], source[index[e]]
            if accumulate:
                for k in range(width):
                    into[k] += a[k] + target_row[k]
            else:
                for k in range(width):
                    into[k] = a[k] + target_row[k]
    sigmoid(logits.reshape(-1), gate.reshape(-1))
    for i in range(rows):
        top, bottom = mean[i], inverse[i]
        for k in range(width):
            top[k] = 0
            bottom[k] = epsilon
        for e in range(ptr[i] - base, ptr[i + 1] - base):
            g, v = gate[e], value[index[e]]
            for k in range(width):
                top[k] += g[k] * v[k]
                bottom[k] += g[k]
        for k in range(width):
            bottom[k] = 1 / bottom[k]
            top[k] *= bottom[k]


@compiled
def gated_mean_backward(
    ptr: Array,
    index: Array,
    logits: Array,
    value: Array,
    mean: Array,
    inverse: Array,
    grad_mean: Array,
    grad_logits: Array,
    gate: Array,
    scaled_grad: Array,
    grad_l: Array,
    grad_target: Array,
    grad_source: Array,
    grad_value: Array,
) -> None:
    """Gradients of the logits (grad_l), target, source and value, given those of the outputs mean and logits.

    `grad_source` and `grad_value` are accumulated in the order of entries. `gate` and `scaled_grad` [width] are
    buffers; `grad_logits` may be None.
    """
    rows, width = grad_mean.shape
    base = ptr[0]
    sigmoid(logits.reshape(-1), gate.reshape(-1))
    for i in range(rows):
        total, centre = grad_target[i], mean[i]
        for k in range(width):
            scaled_grad[k] = grad_mean[i, k] * inverse[i, k]
            total[k] = 0
        for e in range(ptr[i] - base, ptr[i + 1] - base):
            # Separate loops over few arrays each: the compiler does not vectorise loops over more.
            into, g, v = grad_l[e], gate[e], value[index[e]]
            for k in range(width):
                into[k] = scaled_grad[k] * (v[k] - centre[k]) * g[k] * (1 - g[k])
            if grad_logits is not None:
                more = grad_logits[e]
                for k in range(width):
                    into[k] += more[k]
            sender = grad_source[index[e]]
            for k in range(width):
                total[k] += into[k]
                sender[k] += into[k]
            sent = grad_value[index[e]]
            for k in range(width):
                sent[k] += g[k] * scaled_grad[k]
