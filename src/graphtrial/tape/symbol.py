"""Symbolic operands: what a model computes with while it is recorded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from graphtrial.tape.memory import ARENA

if TYPE_CHECKING:
    from graphtrial.tape.program import Tape

Rows = tuple[int, int, int, int]
"""Symbolic number of rows: coefficients of nodes, edges, graphs and 1."""
NODE_ROWS, EDGE_ROWS, GRAPH_ROWS, ONE_ROW = (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)
INTEGER = 2
"""Columns of an int64 vector: elements of the arena are of 32 bits."""
AS_FLOAT = " in single precision"
"""Suffix of the input that is a column of integers, converted."""
MANY = 1 << 20
"""Number of nodes, edges or graphs that a recorded model sees: more than any size that it distinguishes."""


class NotRecordableError(Exception):
    """A model computes something that has no instruction; it takes the ordinary path."""


@dataclass(eq=False)
class Operand:
    """Matrix of a program. `place`: the tensor of a fixed operand, the number of an input, or the slot in the arena."""

    number: int
    rows: Rows
    columns: int
    kind: int = ARENA
    place: Any = None


class Symbol:
    """Symbolic tensor [rows, ...]: an operand, the trailing dimensions, and whether it has a gradient."""

    dtype = torch.float32
    device = torch.device("cpu")

    def __init__(self, tape: Tape, operand: Operand, trailing: tuple[int, ...], *, grad: bool) -> None:
        self.tape = tape
        self.operand = operand
        self.trailing = trailing
        self.requires_grad = grad

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise NotRecordableError(getattr(function, "__name__", "a function of torch"))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape; numbers of nodes, edges and graphs are `MANY`."""
        return (len(self), *self.trailing)

    def __len__(self) -> int:
        *levels, constant = self.operand.rows
        return MANY if any(levels) else constant

    def dim(self) -> int:
        """Return the number of dimensions."""
        return 1 + len(self.trailing)

    def _with(self, *trailing: int) -> Symbol:
        return Symbol(self.tape, self.operand, trailing, grad=self.requires_grad)

    def view(self, *shape: int) -> Symbol:
        """Return the symbol with other trailing dimensions."""
        if shape[0] not in (-1, len(self)) or _count(shape[1:]) != self.operand.columns:
            raise NotRecordableError(f"view {shape}")
        return self._with(*shape[1:])

    def flatten(self, start_dim: int = 0) -> Symbol:
        """Return the symbol as a matrix."""
        if start_dim != 1:
            raise NotRecordableError("flatten")
        return self._with(self.operand.columns)

    def unsqueeze(self, dim: int) -> Symbol:
        """Return a vector as a matrix of one column."""
        if dim != 1 or self.trailing:
            raise NotRecordableError("unsqueeze")
        return self._with(1)

    def split(self, sizes: list[int], dim: int = 0) -> tuple[Symbol, ...]:
        """Return the symbol itself as the only part."""
        if sizes != [self.operand.columns] or dim != 1:
            raise NotRecordableError("several parts")
        return (self,)

    def new_ones(self, shape: tuple[int, ...]) -> Tensor:
        """Return a constant."""
        return torch.ones(shape)

    def to(self, dtype: Any) -> Symbol:
        """Return the symbol: all of them are of single precision."""
        if dtype != torch.float32:
            raise NotRecordableError(f"to {dtype}")
        return self

    def relu(self) -> Symbol:
        """Return the positive part."""
        out: Symbol = self.tape.call("relu", self)
        return out

    def __add__(self, other: Any) -> Symbol:
        out: Symbol = self.tape.call("add", self, other)
        return out

    __radd__ = __add__

    def __mul__(self, other: Any) -> Symbol:
        out: Symbol = self.tape.call("multiply", self, other)
        return out

    __rmul__ = __mul__


class EmbeddedSymbol(Symbol):
    """Rows of a table, a parameter, by categories."""

    def __init__(self, out: Symbol, index: Operand, table: Symbol) -> None:
        super().__init__(out.tape, out.operand, out.trailing, grad=out.requires_grad)
        self.index = index
        self.table = table


class JoinedSymbol(Symbol):
    """Two matrices side by side: joined in memory only where an operator reads them as one operand."""

    def __init__(self, a: Symbol, b: Symbol, join: Callable[[], Operand]) -> None:
        columns = a.operand.columns + b.operand.columns
        self.parts, self._join = (a, b), join
        self.joined: Operand | None = None
        self.is_read = False
        self.grads: tuple[Operand, Operand] | None = None
        """Gradients of the parts, of a linear layer that reads them separately."""
        self.tape, self.trailing, self.requires_grad = a.tape, (columns,), a.requires_grad or b.requires_grad

    @property
    def operand(self) -> Operand:  # type: ignore[override]
        """Both matrices as one operand."""
        if self.joined is None:
            self.joined = self._join()
        return self.joined

    def __len__(self) -> int:
        return len(self.parts[0])


class SymbolicColumn:
    """Column of a batch with integers: categories of nodes or edges, or features that are whole numbers."""

    device = torch.device("cpu")

    def __init__(self, tape: Tape, name: str, rows: Rows, trailing: tuple[int, ...]) -> None:
        self.tape = tape
        self.name = name
        self.rows = rows
        self.trailing = trailing

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise NotRecordableError(getattr(function, "__name__", "a function of torch"))

    @property
    def operand(self) -> Operand:
        """The categories, one per row."""
        if _count(self.trailing) != 1:
            raise NotRecordableError("several categories per row")
        return self.tape.input(self.name, self.rows, INTEGER)

    def __len__(self) -> int:
        return MANY

    def dim(self) -> int:
        """Return the number of dimensions."""
        return 1 + len(self.trailing)

    def reshape(self, rows: int) -> SymbolicColumn:
        """Return the column as a flat one."""
        return self

    def long(self) -> SymbolicColumn:
        """Return the column: it is of 64 bits."""
        return self

    def flatten(self, start_dim: int) -> SymbolicColumn:
        """Return the column as a matrix."""
        return self

    def unsqueeze(self, dim: int) -> SymbolicColumn:
        """Return the column as a matrix of one column."""
        return self

    def to(self, dtype: Any) -> Symbol:
        """Return the column in single precision, as it is passed to the program."""
        width = _count(self.trailing)
        operand = self.tape.input(f"{self.name}{AS_FLOAT}", self.rows, width)
        return Symbol(self.tape, operand, (width,), grad=False).to(dtype)


class SymbolicGraph:
    """Symbolic mini-batch: its columns are symbols, its structure is known to the operators alone."""

    num_nodes = num_edges = num_graphs = MANY

    def __init__(self, columns: dict[str, Any]) -> None:
        self.columns = columns

    @property
    def x(self) -> Any:
        """Node features."""
        return self.columns.get("x")

    @property
    def edge_attr(self) -> Any:
        """Edge features."""
        return self.columns.get("edge_attr")


def is_parameter(value: Any) -> bool:
    """Return whether a value is a trained tensor, or derived from one."""
    return isinstance(value, Tensor) and value.requires_grad


def _count(shape: tuple[int, ...]) -> int:
    total = 1
    for size in shape:
        total *= size
    return total
