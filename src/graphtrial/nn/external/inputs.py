"""How the forward of a module of another library is called on a batch."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch

OFFERED = ("x", "edge_index", "edge_attr", "batch", "batch_size")
WHOLE = ("data", "batch", "graph")
"""Names of the only argument of a forward that takes the whole batch."""


@dataclass(frozen=True)
class Inputs:
    """Arguments of a forward: `names` by keyword, or `whole` for the batch itself."""

    names: tuple[str, ...]
    whole: bool = False
    needs_edges: bool = False
    passes_on: bool = False
    """Whether the forward takes any other arguments, which it passes on to inner layers."""

    @classmethod
    def of(cls, kind: type[nn.Module]) -> Inputs:
        """Return the arguments of the forward of a class; one that a batch does not offer is an error."""
        parameters = list(inspect.signature(kind.forward).parameters.values())[1:]
        named = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        required = [p.name for p in named if p.default is p.empty]
        if len(required) == 1 and required[0] in WHOLE:
            return cls((), whole=True)
        absent = [name for name in required if name not in OFFERED]
        if absent or "x" not in required:
            reason = f"takes {', '.join(absent)}" if absent else "takes no node features `x`"
            raise GraphTrialError(
                f"the forward of {kind.__name__} {reason}; a batch offers {', '.join(OFFERED)}: write a model around "
                "it, as docs/add-a-model.md shows"
            )
        if "log_softmax" in _names_in(kind.forward):
            raise GraphTrialError(
                f"the forward of {kind.__name__} returns log-probabilities instead of node states: write a model "
                "around its parts, as docs/add-a-model.md shows"
            )
        return cls(
            tuple(p.name for p in named if p.name in OFFERED),
            needs_edges="edge_attr" in required,
            passes_on=any(p.kind is p.VAR_KEYWORD for p in parameters),
        )

    def call(self, module: nn.Module, graph: GraphBatch, x: Tensor, e: Tensor | None) -> Tensor:
        """Apply a module to node states [nodes, width] and edge states [edges, width]."""
        if self.whole:
            columns = {**graph.columns, "x": x, **({} if e is None else {"edge_attr": e})}
            whole: Tensor = module(graph.with_columns(columns))
            return whole
        offered: dict[str, Any] = {
            "x": x,
            "edge_index": graph.edge_index,
            "batch": graph.batch,
            "batch_size": graph.num_graphs,
        }
        names = [*self.names, *(["edge_attr"] if self.passes_on and e is not None else [])]
        if e is not None:
            offered["edge_attr"] = e
        out: Tensor = module(**{name: offered[name] for name in names if name in offered})
        return out


def _names_in(function: Any) -> tuple[str, ...]:
    names: tuple[str, ...] = getattr(getattr(function, "__code__", None), "co_names", ())
    return names
