"""The interpreter of programs: one compiled function that runs all instructions of a pass over a batch."""

from __future__ import annotations

import numpy as np

from graphtrial.core.compiler import Array, compiled
from graphtrial.tape import codes
from graphtrial.tape.codes import FIRST_HEADS, FIRST_SPARSE, FIRST_TOWERS
from graphtrial.tape.instructions.blocks import (
    copy,
    join_columns,
    join_rows,
    joined_linear,
    joined_linear_input,
    joined_linear_weight,
    outer,
    split_columns,
    split_rows,
    started_linear,
    sum_product,
    sum_rows,
)
from graphtrial.tape.instructions.dense import (
    add,
    add_number,
    add_row,
    drop,
    move_statistics,
    multiply_column,
    normalize,
    normalize_backward,
    normalize_by_running,
    normalize_l2,
    normalize_l2_backward,
    relu,
    relu_backward,
    zero_nan,
)
from graphtrial.tape.instructions.heads import (
    attend_neighbours,
    attend_neighbours_backward,
    dots,
    gaussians,
    gaussians_backward,
    mix,
    mix_backward,
    multiply_heads,
    normalize_scores,
    normalize_scores_backward,
    score,
    score_backward,
)
from graphtrial.tape.instructions.products import linear, linear_input, linear_weight
from graphtrial.tape.instructions.sparse import (
    attend,
    attend_backward,
    edge_add,
    embed,
    embed_backward,
    maximum,
    maximum_backward,
    mean,
    mean_backward,
    multiply,
    one_hot,
    sum_of_relu,
    sum_of_relu_backward,
)
from graphtrial.tape.instructions.structure import (
    graph_norm,
    loop_scale,
    mean_weight,
    structure,
    symmetric_weight,
)
from graphtrial.tape.instructions.towers import run_towers
from graphtrial.tape.memory import lay_out


@compiled
def _dense(table: Array, c: Array, claim: Array, numbers: Array, seeds: Array) -> None:
    code = c[0]
    if code == codes.LINEAR:
        linear(table, c, claim)
    elif code == codes.LINEAR_INPUT:
        linear_input(table, c, claim)
    elif code == codes.LINEAR_WEIGHT:
        linear_weight(table, c, claim)
    elif code == codes.BATCH_NORM:
        normalize(table, c, claim, numbers)
    elif code == codes.BATCH_NORM_BACKWARD:
        normalize_backward(table, c, claim)
    elif code == codes.UPDATE_STATISTICS:
        move_statistics(table, c, numbers)
    elif code == codes.RUNNING_NORM:
        normalize_by_running(table, c, claim, numbers)
    elif code == codes.ADD:
        add(table, c)
    elif code == codes.ADD_ROW:
        add_row(table, c)
    elif code == codes.ADD_NUMBER:
        add_number(table, c, numbers)
    elif code == codes.MULTIPLY_COLUMN:
        multiply_column(table, c)
    elif code == codes.COPY:
        copy(table, c)
    elif code == codes.RELU:
        relu(table, c)
    elif code == codes.RELU_BACKWARD:
        relu_backward(table, c)
    elif code == codes.DROPOUT:
        drop(table, c, claim, numbers, seeds)
    elif code == codes.ZERO_NAN:
        zero_nan(table, c)
    elif code == codes.COLUMN_SUMS:
        sum_rows(table, c)
    elif code == codes.OUTER:
        outer(table, c)
    elif code == codes.TOTAL_PRODUCT:
        sum_product(table, c)
    elif code == codes.JOIN_COLUMNS:
        join_columns(table, c)
    elif code == codes.SPLIT_COLUMNS:
        split_columns(table, c)
    elif code == codes.JOIN_ROWS:
        join_rows(table, c)
    elif code == codes.SPLIT_ROWS:
        split_rows(table, c)
    elif code == codes.L2_NORMALIZE:
        normalize_l2(table, c, claim)
    elif code == codes.L2_NORMALIZE_BACKWARD:
        normalize_l2_backward(table, c, claim)
    elif code == codes.JOINED_LINEAR:
        joined_linear(table, c, claim)
    elif code == codes.JOINED_LINEAR_INPUT:
        joined_linear_input(table, c, claim)
    elif code == codes.JOINED_LINEAR_WEIGHT:
        joined_linear_weight(table, c, claim)
    elif code == codes.STARTED_LINEAR:
        started_linear(table, c, claim)


@compiled
def _sparse(table: Array, c: Array, claim: Array, numbers: Array, seeds: Array) -> None:
    code = c[0]
    if code == codes.EMBED:
        embed(table, c)
    elif code == codes.EMBED_BACKWARD:
        embed_backward(table, c)
    elif code == codes.ONE_HOT:
        one_hot(table, c)
    elif code == codes.SYMMETRIC_WEIGHT:
        symmetric_weight(table, c)
    elif code == codes.MEAN_WEIGHT:
        mean_weight(table, c)
    elif code == codes.ONES:
        structure(table, c, 0)
    elif code == codes.RANGE:
        structure(table, c, 1)
    elif code == codes.GATHER_INTEGERS:
        structure(table, c, 2)
    elif code == codes.GROUPS:
        structure(table, c, 3)
    elif code == codes.GRAPH_NORM:
        graph_norm(table, c)
    elif code == codes.LOOP_SCALE:
        loop_scale(table, c)
    elif code == codes.SPMM:
        multiply(table, c, claim)
    elif code == codes.SPMM_MAX:
        maximum(table, c, claim)
    elif code == codes.SPMM_MAX_BACKWARD:
        maximum_backward(table, c, claim)
    elif code == codes.GATED_MEAN:
        mean(table, c, claim)
    elif code == codes.GATED_MEAN_BACKWARD:
        mean_backward(table, c, claim)
    elif code == codes.EDGE_ADD:
        edge_add(table, c)
    elif code == codes.RELU_SUM:
        sum_of_relu(table, c, claim)
    elif code == codes.RELU_SUM_BACKWARD:
        sum_of_relu_backward(table, c, claim)
    elif code == codes.ATTENTION:
        attend(table, c, claim, numbers, seeds)
    elif code == codes.ATTENTION_BACKWARD:
        attend_backward(table, c, claim, numbers, seeds)


@compiled
def _heads(table: Array, c: Array, claim: Array, numbers: Array) -> None:
    code = c[0]
    if code == codes.SPMM_HEADS:
        multiply_heads(table, c, claim)
    elif code == codes.SDDMM:
        dots(table, c, claim)
    elif code == codes.EDGE_SCORES:
        score(table, c, claim, numbers)
    elif code == codes.EDGE_SCORES_BACKWARD:
        score_backward(table, c, claim, numbers)
    elif code == codes.SOFTMAX:
        normalize_scores(table, c, claim)
    elif code == codes.SOFTMAX_BACKWARD:
        normalize_scores_backward(table, c, claim)
    elif code == codes.GAT:
        attend_neighbours(table, c, claim, numbers)
    elif code == codes.GAT_BACKWARD:
        attend_neighbours_backward(table, c, claim, numbers)
    elif code == codes.GAUSSIANS:
        gaussians(table, c, claim)
    elif code == codes.GAUSSIANS_BACKWARD:
        gaussians_backward(table, c, claim)
    elif code == codes.MIXTURE_SUM:
        mix(table, c, claim)
    elif code == codes.MIXTURE_SUM_BACKWARD:
        mix_backward(table, c, claim)


@compiled
def execute(
    program: Array, operands: Array, slots: Array, inputs: Array, sizes: Array, numbers: Array, seeds: Array
) -> None:
    """Run a program [instructions, OPERANDS] over a batch.

    For operands, slots, inputs and sizes see `memory.lay_out`; numbers: constants in float64; seeds: of dropout masks.
    """
    table, claim = np.empty((len(operands), 3), np.int64), np.zeros(2, np.int64)
    claim[1] = lay_out(operands, slots, inputs, sizes, table)
    for at in range(len(program)):
        c = program[at]
        if c[0] < FIRST_SPARSE:
            _dense(table, c, claim, numbers, seeds)
        elif c[0] < FIRST_HEADS:
            _sparse(table, c, claim, numbers, seeds)
        elif c[0] < FIRST_TOWERS:
            _heads(table, c, claim, numbers)
        else:
            run_towers(table, c, claim, numbers)
