"""The gated mean of GatedGCN, some rows at a time.

`ptr` [rows + 1] and the arrays of rows are those of the rows in hand; arrays of entries begin with the first entry of
the first of these rows; `source`, `value` and their gradients are those of all columns.
"""

from __future__ import annotations

from graphtrial.core.compiler import Array, compiled
from graphtrial.ops.kernels.exponential import sigmoid


@compiled
def gated_rows(
    ptr: Array,
    index: Array,
    source: Array,
    target: Array,
    value: Array,
    added: bool,
    epsilon: float,
    logits: Array,
    gate: Array,
    mean: Array,
    inverse: Array,
) -> None:
    """logits = source[index] + target (+ what they are, if `added`); gate = sigmoid of them; mean and its divisor.

    mean[i] = inverse[i] * sum of gate[e] * value[index[e]], where inverse[i] = 1 / (sum of gate[e] + epsilon).
    """
    rows, width = target.shape
    base = ptr[0]
    for i in range(rows):
        mine = target[i]
        for e in range(ptr[i] - base, ptr[i + 1] - base):
            into, a = logits[e], source[index[e]]
            if added:
                for k in range(width):
                    into[k] += a[k] + mine[k]
            else:
                for k in range(width):
                    into[k] = a[k] + mine[k]
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
def gated_rows_backward(
    ptr: Array,
    index: Array,
    logits: Array,
    value: Array,
    mean: Array,
    inverse: Array,
    gradient: Array,
    extra: Array,
    gate: Array,
    share: Array,
    of_logits: Array,
    of_target: Array,
    of_source: Array,
    of_value: Array,
) -> None:
    """The gradient of the logits, to which `extra` is added, and of what they and the mean are made of.

    The gradients of source and value are added to what is there, in the order of entries. `gate` and `share` [width]
    are room to work in.
    """
    rows, width = gradient.shape
    base = ptr[0]
    sigmoid(logits.reshape(-1), gate.reshape(-1))
    for i in range(rows):
        total, centre = of_target[i], mean[i]
        for k in range(width):
            share[k] = gradient[i, k] * inverse[i, k]
            total[k] = 0
        for e in range(ptr[i] - base, ptr[i + 1] - base):
            # Loops of few arrays each: more would be too much for vector instructions.
            into, g, v = of_logits[e], gate[e], value[index[e]]
            for k in range(width):
                into[k] = share[k] * (v[k] - centre[k]) * g[k] * (1 - g[k])
            if extra is not None:
                more = extra[e]
                for k in range(width):
                    into[k] += more[k]
            sender = of_source[index[e]]
            for k in range(width):
                total[k] += into[k]
                sender[k] += into[k]
            sent = of_value[index[e]]
            for k in range(width):
                sent[k] += g[k] * share[k]
