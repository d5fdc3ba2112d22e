"""Graphs of NetworkX -> graph set, for every format that NetworkX reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from graphtrial.core.errors import CorruptFileError, GraphTrialError, InvalidGraphError, short_repr
from graphtrial.graphs import Column, GraphSet, from_networkx
from graphtrial.graphs.mask_names import PART, parse_mask_name

if TYPE_CHECKING:
    import networkx as nx


def convert(
    items: Sequence[tuple[str, nx.Graph]],
    node_features: tuple[str, ...],
    edge_features: tuple[str, ...],
    target: str | None,
    node_target: str | None,
) -> GraphSet:
    """Convert graphs with the given attributes as features; the target is a graph or node attribute.

    items: pairs of the name of the graph in errors, such as the file, and the graph.
    An undirected edge becomes two directed ones. Attributes named `split`, `train_mask` and so on define the split.
    Integer and string targets are classes, others are regressed.
    """
    graphs = [graph for _, graph in items]
    if target is None and node_target is None:
        names = sorted({key for graph in graphs for key in graph.graph if key not in ("node_default", "edge_default")})
        raise GraphTrialError(f"name the target with --target or --node-target; the graphs have {names or 'none'}")
    for where, graph in items:
        _check_numbers(f"{where}, node", graph.nodes(data=True), node_features)
        _check_numbers(f"{where}, edge", graph.edges(data=True), edge_features)
    if node_target is not None and parse_mask_name(node_target):
        raise GraphTrialError(f"'{node_target}' names a split, so that it cannot be the target")
    try:
        converted = from_networkx(
            graphs, node_features=tuple(node_features), edge_features=tuple(edge_features), ignore=(target, node_target)
        )
    except InvalidGraphError as error:
        raise CorruptFileError(f"{', '.join(where for where, _ in items[:3])}: {error}") from error
    converted = _as_float(converted)
    if node_target is not None:
        targets = [
            _attribute(data, node_target, f"{where}, node {node}")
            for where, graph in items
            for node, data in graph.nodes(data=True)
        ]
        return converted.with_column("y", _target_column(targets, "node", node_target))
    targets = [_attribute(graph.graph, target, where) for where, graph in items]
    return converted.with_column("y", _target_column(targets, "graph", str(target)))


def _check_numbers(where: str, items: Iterable[tuple[Any, ...]], names: Sequence[str]) -> None:
    for *ends, data in items if names else ():
        for name in names:
            if not isinstance(data.get(name, 0), int | float):
                place = f"{where} {' to '.join(map(str, ends))}"
                value = short_repr(data[name], 40)
                raise CorruptFileError(f"{place}: attribute '{name}' is not a number but {value}; features are numbers")


def _as_float(graphs: GraphSet) -> GraphSet:
    for name, column in graphs.columns.items():
        if name == PART:
            continue
        graphs = graphs.with_column(name, Column(column.values.astype(np.float32), column.level, column.meaning))
    if "x" not in graphs.columns:
        ones = np.ones(graphs.num_nodes, np.float32)
        graphs = graphs.with_column("x", Column(ones, "node", "constant, because none was given"))
    return graphs


def _attribute(attributes: dict[str, Any], name: str | None, where: str) -> Any:
    if name not in attributes:
        given = ", ".join(map(str, attributes)) or "none"
        raise CorruptFileError(f"{where}: there is no attribute '{name}', the target; the attributes are: {given}")
    return attributes[name]


def _target_column(targets: list[Any], level: Any, name: str) -> Column:
    if all(isinstance(target, int | str) for target in targets):
        if len({type(target) for target in targets}) > 1:
            raise CorruptFileError(f"the target '{name}' mixes strings and numbers")
        words, number = np.unique(np.array(targets), return_inverse=True)
        meaning = f"{name}: {', '.join(map(str, words[:20]))}{', ...' if len(words) > 20 else ''}"
        return Column(number.astype(np.int64), level, meaning, types=len(words))
    try:
        return Column(np.array(targets, np.float32), level, name)
    except (ValueError, TypeError, OverflowError) as error:
        raise CorruptFileError(
            f"the target '{name}' must be one number or word, or equally many numbers each"
        ) from error
