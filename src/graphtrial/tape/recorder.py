"""Recording of a model: its own code runs once with symbols, and every operator is appended to a tape."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from graphtrial.graphs import GraphBatch
from graphtrial.nn.encoder import ENCODING_COLUMN
from graphtrial.ops.recording import recording
from graphtrial.tape import codes, matrices, neighbours, operators, principal, weighted
from graphtrial.tape.fusion import fuse
from graphtrial.tape.program import Tape
from graphtrial.tape.structure import Structure
from graphtrial.tape.symbol import (
    EDGE_ROWS,
    NODE_ROWS,
    NotRecordableError,
    Symbol,
    SymbolicColumn,
    SymbolicGraph,
    is_parameter,
)

logger = logging.getLogger(__name__)
Function = Callable[..., Any]
ELEMENTARY: dict[str, Function] = {"relu": operators.relu, "add": operators.add, "multiply": operators.multiply}
DENSE: tuple[Function, ...] = (
    matrices.linear,
    operators.add_row,
    operators.dropout,
    operators.batch_norm,
    operators.batch_norm_inference,
    operators.update_running_statistics,
    operators.l2_normalize,
    principal.tower_linear,
)
ON_GRAPHS: tuple[Function, ...] = (
    neighbours.aggregate,
    neighbours.pool,
    neighbours.edge_add,
    neighbours.gated_mean,
    neighbours.relu_sum,
    neighbours.self_attention,
    weighted.attention,
    weighted.attention_scores,
    weighted.edge_softmax,
    weighted.gaussian_weights,
    weighted.mixture_sum,
    principal.multi_aggregate,
    principal.degree_scalers,
)
TORCH: dict[str, Function] = {
    "relu": lambda tape, x, inplace=False: operators.relu(tape, x),
    "leaky_relu": principal.leaky_relu,
    "embedding": matrices.embedding,
    "one_hot": matrices.one_hot,
    "cat": matrices.cat,
    "chunk": matrices.chunk,
    **dict.fromkeys(("add", "__add__", "__radd__"), operators.add),
}
"""Functions of torch by name."""
FACTS = {"__get__", "dim", "size", "numel", "is_contiguous", "new_ones", "new_zeros", "__len__"}
"""Functions of torch that read no values of a parameter."""
COLUMNS = {"x": NODE_ROWS, "edge_attr": EDGE_ROWS, ENCODING_COLUMN: NODE_ROWS}
"""Columns of a batch that models read, by their rows."""
PACKAGES = ("graphtrial.nn.", "torch.nn.modules.")
HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


class Recorder(TorchFunctionMode):
    """Appends operators of `graphtrial.ops` and functions of torch to a tape instead of computing them."""

    def __init__(self) -> None:
        super().__init__()
        self.tape = Tape(ELEMENTARY)
        self.structure = Structure(self.tape)
        self._operators: dict[str, Function] = {each.__name__: partial(each, self.tape) for each in DENSE}
        for function in ON_GRAPHS:
            self._operators[function.__name__] = self._on_graph(function)
        self._operators["symmetric_weight"] = lambda graph, dtype: self.structure.edge_weight("symmetric")
        self._operators["edge_weight"] = lambda graph, reduce, dtype: self.structure.edge_weight(reduce)
        self._operators["graph_norm"] = lambda graph, level, dtype: self.structure.graph_norm(level)
        self._operators["self_loop_scales"] = lambda graph, dtype: self.structure.self_loop_scales()
        self._operators["encoding_values"] = self._encoding_values
        self._operators["zero_missing"] = self._zero_missing

    def operator(self, name: str) -> Function:
        """Return the function that records an operator."""
        if name not in self._operators:
            raise NotRecordableError(name)
        return self._operators[name]

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        named = kwargs or {}
        name = getattr(function, "__name__", "")
        values = [*args, *named.values()]
        values += [part for value in values if isinstance(value, list | tuple) for part in value]
        symbolic = any(isinstance(value, Symbol | SymbolicColumn) for value in values)
        if not symbolic and (name in FACTS or not any(map(is_parameter, values))):
            return function(*args, **named)
        if name == "__getitem__" and is_parameter(args[0]) and args[0].shape[0] == 1 and args[1] == 0:
            return self.tape.parameter(args[0])
        if name not in TORCH:
            raise NotRecordableError(name)
        return TORCH[name](self.tape, *args, **named)

    def graph(self, batch: GraphBatch) -> SymbolicGraph:
        """Return the symbols of a batch like this one."""
        return SymbolicGraph(
            {name: self._column(name, batch.columns[name]) for name in COLUMNS if name in batch.columns}
        )

    def _column(self, name: str, values: Tensor) -> Symbol | SymbolicColumn:
        trailing, width = tuple(values.shape[1:]), values[0].numel()
        if values.dtype == torch.int64:
            return SymbolicColumn(self.tape, name, COLUMNS[name], trailing)
        if values.dtype != torch.float32:
            raise NotRecordableError(f"a column of {values.dtype}")
        return Symbol(self.tape, self.tape.input(name, COLUMNS[name], width), trailing, grad=False)

    def _encoding_values(self, graph: SymbolicGraph) -> Symbol | None:
        values = graph.columns.get(ENCODING_COLUMN)
        return None if values is None else self._zero_missing(values)

    def _zero_missing(self, values: Symbol) -> Symbol:
        out = operators.result(self.tape, values.operand.rows, values.trailing)
        self.tape.emit(codes.ZERO_NAN, values.operand, out.operand)
        return out

    def _on_graph(self, function: Function) -> Function:
        def call(graph: SymbolicGraph, *arguments: Any, **named: Any) -> Any:
            if not isinstance(graph, SymbolicGraph):
                raise NotRecordableError("another graph")
            return function(self.tape, self.structure, *arguments, **named)

        return call


def record(model: nn.Module, batch: GraphBatch, *, training: bool) -> Tape | None:
    """Return the program of a model in training or evaluation for batches like this one, None if it has none."""
    if not is_ours(model) or model.training != training:
        return None
    recorder = Recorder()
    try:
        graph = recorder.graph(batch)
        with recording(recorder), recorder:
            out = model(graph)
        tape = recorder.tape
        if not isinstance(out, Symbol) or len(out.trailing) != 1:
            return None
        tape.emit(codes.COPY, out.operand, tape.input("logits", out.operand.rows, out.operand.columns))
        if training:
            tape.differentiate(out)
        fuse(tape)
    except Exception as error:  # noqa: BLE001 - whatever has no instruction is computed on the ordinary path
        logger.debug("%s is not recorded: %s: %s", type(model).__name__, type(error).__name__, error)
        return None
    return tape


def is_ours(model: nn.Module) -> bool:
    """Return whether all modules are those of this package or of torch, which compute the same for every batch."""
    if getattr(model, "_compiled_call_impl", None) is not None or hasattr(model, "extra_loss"):
        return False
    return all(
        type(module).__module__.startswith(PACKAGES)
        and "forward" not in vars(module)
        and not any(getattr(module, hooks, None) for hooks in HOOKS)
        for module in model.modules()
    )
