"""Structure of a symbolic batch: pointers and indices as inputs, and what is computed of them once per batch."""

from __future__ import annotations

from graphtrial.tape import codes
from graphtrial.tape.codes import NONE
from graphtrial.tape.program import Tape
from graphtrial.tape.symbol import EDGE_ROWS, INTEGER, NODE_ROWS, NotRecordableError, Operand, Rows, Symbol

INPUTS: dict[str, Rows] = {
    "source": EDGE_ROWS,
    "target": EDGE_ROWS,
    "batch": NODE_ROWS,
    "ptr": (0, 0, 1, 1),
    "in_ptr": (1, 0, 0, 1),
    "out_ptr": (1, 0, 0, 1),
    "out_order": EDGE_ROWS,
    "in_degree": NODE_ROWS,
    "out_degree": NODE_ROWS,
}
"""Arrays of a batch, and their lengths."""


class Structure:
    """Structure of a batch on a tape. Derived arrays are computed where they are first used."""

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self._derived: dict[str, Operand] = {}

    def input(self, name: str) -> Operand:
        """Return an array of the batch."""
        return self.tape.input(name, INPUTS[name], INTEGER)

    def edge_weight(self, reduce: str) -> Operand:
        """Return the edge weights of a sum or mean, or `symmetric` ones."""
        name = f"edge {reduce}"
        if reduce == "sum":
            return self._once(name, EDGE_ROWS, 1, codes.ONES)
        if reduce == "mean":
            return self._once(name, EDGE_ROWS, 1, codes.MEAN_WEIGHT, self.input("in_ptr"), self.input("target"))
        names = ("source", "target", "out_degree", "in_degree")
        return self._once(name, EDGE_ROWS, 1, codes.SYMMETRIC_WEIGHT, *map(self.input, names))

    def pool_weight(self, how: str) -> Operand:
        """Return the weight of each node in a sum or mean over its graph."""
        if how == "sum":
            return self._once("pool sum", NODE_ROWS, 1, codes.ONES)
        if how != "mean":
            raise NotRecordableError(f"readout {how}")
        return self._once("pool mean", NODE_ROWS, 1, codes.MEAN_WEIGHT, self.input("ptr"), self.input("batch"))

    def graph_norm(self, level: str) -> Symbol:
        """Return 1 / sqrt(size of the graph) of each node or edge."""
        edges = (self.input("in_ptr"), self.input("target")) if level == "edge" else (NONE, NONE)
        rows = EDGE_ROWS if level == "edge" else NODE_ROWS
        inputs = self.input("ptr"), self.input("batch"), *edges
        operand = self._once(f"graph norm {level}", rows, 1, codes.GRAPH_NORM, *inputs)
        return Symbol(self.tape, operand, (1,), grad=False)

    def self_loop_scales(self) -> tuple[Symbol, Symbol]:
        """Return 1 / sqrt(degree with a self-loop) of each node, and that of the self-loops to be added."""
        pointers = self.input("in_ptr"), self.input("source")
        scale = self._once("self-loop scale", NODE_ROWS, 1, codes.LOOP_SCALE, *pointers, 0)
        new = self._once("scale of new self-loops", NODE_ROWS, 1, codes.LOOP_SCALE, *pointers, 1)
        return Symbol(self.tape, scale, (1,), grad=False), Symbol(self.tape, new, (1,), grad=False)

    def transpose(self) -> tuple[Operand, Operand, Operand]:
        """Return pointers, indices and permutation of the transposed adjacency matrix."""
        order = self.input("out_order")
        rows = self._once("rows", EDGE_ROWS, INTEGER, codes.GATHER_INTEGERS, self.input("target"), order)
        return self.input("out_ptr"), rows, order

    def range_of_nodes(self) -> Operand:
        """Return 0, 1, ... up to the number of nodes."""
        return self._once("range of nodes", (1, 0, 0, 1), INTEGER, codes.RANGE)

    def range_of_edges(self) -> Operand:
        """Return 0, 1, ... up to the number of edges."""
        return self._once("range of edges", (0, 1, 0, 1), INTEGER, codes.RANGE)

    def groups(self, most: int) -> Operand:
        """Return the bounds of independent groups of rows, after their number."""
        inputs = self.input("in_ptr"), self.input("source")
        return self._once("groups", (0, 0, 0, most), INTEGER, codes.GROUPS, *inputs)

    def _once(self, name: str, rows: Rows, columns: int, code: int, *inputs: object) -> Operand:
        if name not in self._derived:
            self._derived[name] = self.tape.new(rows, columns)
            self.tape.emit(code, *inputs, self._derived[name])
        return self._derived[name]
