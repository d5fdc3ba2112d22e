"""Importer of GraphML files, one graph each, read by NetworkX."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

import numpy as np

from graphtrial.core.errors import CorruptFileError, GraphTrialError, InvalidGraphError
from graphtrial.datasets.custom.importers import reason
from graphtrial.graphs import Column, GraphSet, from_networkx
from graphtrial.graphs.mask_names import PART, parse_mask_name


def read(
    paths: list[Path],
    node_features: tuple[str, ...] = (),
    edge_features: tuple[str, ...] = (),
    target: str | None = None,
    node_target: str | None = None,
) -> GraphSet:
    """Read graphs with the given attributes as features; the target is a graph or node attribute.

    An undirected edge becomes two directed ones. Attributes named `split`, `train_mask` and so on define the split.
    Integer and string targets are classes, others are regressed.
    """
    import networkx as nx

    graphs = []
    for path in paths:
        try:
            graphs.append(nx.read_graphml(path))
        except (ParseError, nx.NetworkXError, LookupError, ValueError, TypeError, AttributeError) as error:
            raise CorruptFileError(f"{path.name} is not a GraphML file: {reason(error)}") from error
    if target is None and node_target is None:
        names = sorted({key for graph in graphs for key in graph.graph if key not in ("node_default", "edge_default")})
        raise GraphTrialError(f"name the target with --target or --node-target; the graphs have {names or 'none'}")
    _check_numbers((data for graph in graphs for _, data in graph.nodes(data=True)), node_features)
    _check_numbers((data for graph in graphs for *_, data in graph.edges(data=True)), edge_features)
    if node_target is not None and parse_mask_name(node_target):
        raise GraphTrialError(f"'{node_target}' names a split, so that it cannot be the target")
    try:
        converted = from_networkx(
            graphs, node_features=tuple(node_features), edge_features=tuple(edge_features), ignore=(target, node_target)
        )
    except InvalidGraphError as error:
        raise CorruptFileError(f"{', '.join(path.name for path in paths[:3])}: {error}") from error
    converted = _as_float(converted)
    if node_target is not None:
        targets = [value for graph in graphs for value in _values(graph.nodes(data=True), node_target)]
        return converted.with_column("y", _target_column(targets, "node", node_target))
    targets = [_attribute(graph.graph, target) for graph in graphs]
    return converted.with_column("y", _target_column(targets, "graph", str(target)))


def _check_numbers(items: Iterable[dict[str, Any]], names: Sequence[str]) -> None:
    for data in items:
        for name in names:
            if not isinstance(data.get(name, 0), int | float):
                raise CorruptFileError(f"attribute '{name}' is not a number but {data[name]!r}; features are numbers")


def _as_float(graphs: GraphSet) -> GraphSet:
    for name, column in graphs.columns.items():
        if name == PART:
            continue
        graphs = graphs.with_column(name, Column(column.values.astype(np.float32), column.level, column.meaning))
    if "x" not in graphs.columns:
        ones = np.ones(graphs.num_nodes, np.float32)
        graphs = graphs.with_column("x", Column(ones, "node", "constant, because none was given"))
    return graphs


def _values(nodes: Any, name: str) -> list[Any]:
    return [_attribute(attributes, name) for _, attributes in nodes]


def _attribute(attributes: dict[str, Any], name: str | None) -> Any:
    if name not in attributes:
        raise CorruptFileError(f"there is no attribute '{name}' where the target should be; there is {[*attributes]}")
    return attributes[name]


def _target_column(targets: list[Any], level: Any, name: str) -> Column:
    if all(isinstance(target, int | str) for target in targets):
        if len({type(target) for target in targets}) > 1:
            raise CorruptFileError(f"the target '{name}' mixes strings and numbers")
        words, number = np.unique(np.array(targets), return_inverse=True)
        meaning = f"{name}: {', '.join(map(str, words[:20]))}{', ...' if len(words) > 20 else ''}"
        return Column(number.astype(np.int64), level, meaning, types=len(words))
    return Column(np.array(targets, np.float32), level, name)
