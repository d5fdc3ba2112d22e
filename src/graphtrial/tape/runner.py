"""`TapedModel`: forward and backward passes of a model over small batches, each in one compiled call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from graphtrial.core.compiler import is_compiled
from graphtrial.core.hardware import threads
from graphtrial.graphs import GraphBatch
from graphtrial.ops.linear import MIN_SIZE
from graphtrial.ops.portable import uses_kernels
from graphtrial.ops.vector_paths import has_vectors
from graphtrial.tape.codes import OPERANDS
from graphtrial.tape.memory import ALIGNMENT, FIXED
from graphtrial.tape.program import ARENA_INPUT, Memory, Tape, encode
from graphtrial.tape.recorder import record
from graphtrial.tape.structure import INPUTS
from graphtrial.tape.symbol import AS_FLOAT

MAX_ELEMENTS = 1 << 20
"""Elements of the widest node matrix of a batch, or of its messages, above which a model takes the ordinary path.

There a step takes tens of milliseconds of arithmetic, of which Python is a small part; measured up to 0.5 million
(PROTEINS in batches of 64). With more than `MAX_THREADS` threads, which share kernels on the ordinary path alone, the
limit is `threads.MIN_WORK`, below which one thread computes anyway.
"""
MAX_THREADS = 2
"""Threads up to which a program on one of them is not slower than the ordinary path on all: an epoch of ZINC takes 1.71
and 1.79 s (GCN), 2.64 and 2.98 s (GatedGCN) on two cores. More threads were not measured."""
Gradients = Callable[[Sequence[Tensor]], Sequence[Tensor]]


class Program:
    """A tape in the form that the interpreter takes, with its arena."""

    def __init__(self, tape: Tape, gradients: Gradients | None) -> None:
        self.tape = tape
        memory = Memory(tape)
        self.forward, self.backward = encode(tape.forward), encode(tape.backward)
        self.slots, self.elements = memory.table(), memory.elements()
        self.numbers = np.array([*tape.numbers, 0.0])
        self.sizes, self.inputs = np.ones(4, np.int64), np.zeros(1 + len(tape.inputs), np.int64)
        self.arena, self.seeds = np.empty(0, np.float32), np.zeros(1, np.int64)
        self.node_width, self.edge_width = tape.widths()
        self.structure = [(name, o.place) for name, o in tape.inputs.items() if name in INPUTS]
        self.functions = [(compute, tape.inputs[name].place) for name, compute in tape.functions_of_batch.items()]
        apart = *INPUTS, *tape.functions_of_batch, "logits", "grad_output"
        others = {name: o.place for name, o in tape.inputs.items() if name not in apart}
        self.columns = [(name, place) for name, place in others.items() if not name.endswith(AS_FLOAT)]
        self.converted = [(name.removesuffix(AS_FLOAT), at) for name, at in others.items() if name.endswith(AS_FLOAT)]
        self.output = tape.inputs["logits"]
        self.alive: list[Tensor] = []
        self.parameters: tuple[Tensor, ...] = ()
        self.gradients: list[Tensor] = []
        if gradients is not None:
            self.parameters, owned = zip(*tape.gradients(), strict=True)
            self.gradients = list(gradients(self.parameters))
            for own, gradient in zip(owned, self.gradients, strict=True):
                own.place = gradient
        self.operands = np.array([[o.kind, 0, o.columns, *o.rows] for o in tape.operands], np.int64)
        self.bind()

    def bind(self) -> None:
        """Look up the addresses of parameters, buffers and gradients."""
        for operand in self.tape.operands:
            self.operands[operand.number, 1] = operand.place.data_ptr() if operand.kind == FIXED else operand.place or 0

    def fits(self, batch: GraphBatch) -> bool:
        """Return whether the program is worth while for a batch, and defined for it."""
        nodes, edges, graphs = batch.num_nodes, batch.num_edges, batch.num_graphs
        limit = MAX_ELEMENTS if threads.current_threads() <= MAX_THREADS else threads.MIN_WORK
        if min(nodes, edges) < MIN_SIZE or max(nodes * self.node_width, edges * self.edge_width) >= limit:
            return False
        self.sizes[:] = nodes, edges, graphs, 1
        return all(sum(a * b for a, b in zip(rows, (nodes, edges, graphs, 1), strict=True)) > 1
                   for rows in self.tape.more_than_one)  # fmt: skip

    def run(self, batch: GraphBatch) -> Tensor:
        """Return the logits of a batch for which the program `fits`."""
        from graphtrial.tape.interpreter import execute

        size = int(self.elements @ self.sizes)
        if len(self.arena) < size:
            self.arena = aligned(size + size // 4)
            self.inputs[ARENA_INPUT] = self.arena.ctypes.data
        inputs = self.inputs
        edge_index = batch.edge_index.data_ptr()
        for name, place in self.structure:
            if name == "source":
                inputs[place] = edge_index
            elif name == "target":
                inputs[place] = edge_index + 8 * batch.num_edges
            else:
                inputs[place] = getattr(batch, name).data_ptr()
        for name, place in self.columns:
            inputs[place] = batch.columns[name].data_ptr()
        converted = [(batch.columns[name].float(), place) for name, place in self.converted]
        computed = [(compute(batch).contiguous(), place) for compute, place in self.functions]
        for value, place in (*converted, *computed):
            inputs[place] = value.data_ptr()
        self.alive = [value for value, _ in (*converted, *computed)]
        rows = sum(int(a) * int(b) for a, b in zip(self.output.rows, self.sizes, strict=True))
        logits = torch.empty(rows, self.output.columns)
        inputs[self.output.place] = logits.data_ptr()
        if self.tape.dropouts:
            self.seeds = torch.empty(self.tape.dropouts, dtype=torch.int64).random_().numpy()
        execute(self.forward, self.operands, self.slots, inputs, self.sizes, self.numbers, self.seeds)
        return logits

    def differentiate(self, grad_logits: Tensor) -> None:
        """Compute the gradients of the parameters of the last batch."""
        from graphtrial.tape.interpreter import execute

        grad = grad_logits.contiguous()
        self.inputs[self.tape.inputs["grad_output"].place] = grad.data_ptr()
        before = [None if p.grad is None else p.grad.clone() for p in self.parameters]
        execute(self.backward, self.operands, self.slots, self.inputs, self.sizes, self.numbers, self.seeds)
        for parameter, gradient, earlier in zip(self.parameters, self.gradients, before, strict=True):
            parameter.grad = gradient if earlier is None else earlier + gradient


class TapedModel:
    """A model whose passes over small batches are programs, where it can be recorded.

    Called like the model, with the same results to the bit; what cannot be recorded, or is not worth it, the model
    itself computes. `gradients` returns the tensors into which the gradients of parameters are written; by default they
    are allocated. Until the interpreter is compiled, the model computes itself.
    """

    def __init__(self, model: nn.Module, gradients: Gradients | None = None) -> None:
        self.model = model
        self._ready = is_ready()
        self._gradients = gradients or (lambda parameters: [torch.zeros_like(each) for each in parameters])
        self._programs: dict[bool, Program | None] = {}
        self._anchor = torch.zeros(0, requires_grad=True)

    def __call__(self, batch: GraphBatch) -> Tensor:
        """Return the logits of a batch."""
        program = self._program(batch)
        if program is None or not program.fits(batch):
            out: Tensor = self.model(batch)
            return out
        if self.model.training and torch.is_grad_enabled():
            recorded: Tensor = _Pass.apply(self._anchor, program, batch)  # type: ignore[no-untyped-call]
            return recorded
        return program.run(batch)

    def train(self, mode: bool = True) -> TapedModel:
        """Set the training mode of the model, and look up where its parameters are."""
        self.model.train(mode)
        for program in self._programs.values():
            if program is not None:
                program.bind()
        return self

    def eval(self) -> TapedModel:
        """Set the evaluation mode of the model."""
        return self.train(False)

    def _program(self, batch: GraphBatch) -> Program | None:
        """Return the program of the model in its mode; in evaluation, only where no gradient is asked for."""
        training = self.model.training
        if not self._ready:
            return None
        if not (uses_kernels(batch.edge_index) and has_vectors()) or torch.is_autocast_enabled("cpu"):
            return None
        if not training and torch.is_grad_enabled():
            return None
        if training not in self._programs:
            tape = record(self.model, batch, training=training)
            self._programs[training] = None if tape is None else Program(tape, self._gradients if training else None)
            self.train(training)
        return self._programs[training]


class _Pass(torch.autograd.Function):
    """The passes of a program as one node of autograd, which sets the gradients of all parameters."""

    @staticmethod
    def forward(ctx: Any, anchor: Tensor, program: Program, batch: GraphBatch) -> Tensor:
        ctx.program, ctx.batch = program, batch  # the batch stays alive: the program has the addresses of its arrays
        return program.run(batch)

    @staticmethod
    def backward(ctx: Any, grad_logits: Tensor) -> tuple[None, None, None]:
        ctx.program.differentiate(grad_logits)
        return None, None, None


def aligned(count: int) -> npt.NDArray[np.float32]:
    """Return an uninitialised array that begins with a cache line, as malloc does not: GIN+ on ZINC gains 6 %."""
    block = np.empty(count + ALIGNMENT, np.float32)
    first = -(block.ctypes.data // block.itemsize) % ALIGNMENT
    return block[first : first + count]


def is_ready() -> bool:
    """Return whether the interpreter is compiled: it takes two minutes once, for which no training waits."""
    from graphtrial.tape.interpreter import execute

    return is_compiled(execute)


def warm_up() -> None:
    """Compile the interpreter, or load it from disk."""
    from graphtrial.tape.interpreter import execute

    program, operands, slots = (np.empty((0, columns), np.int64) for columns in (OPERANDS, 7, 5))
    execute(program, operands, slots, np.zeros(1, np.int64), np.ones(4, np.int64), np.zeros(1), np.zeros(1, np.int64))
