"""Reader of the TU text format: text tables of one block-diagonal graph and the graph of each node.

`NAME_A.txt` holds the edges, `NAME_graph_indicator.txt` the graph of each node, `NAME_graph_labels.txt` the class of
each graph or `NAME_graph_attributes.txt` its targets; labels are integers, attributes vectors, of nodes or edges.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import CorruptFileError
from graphtrial.datasets.statistics import SELF_LOOPS
from graphtrial.graphs import Column, GraphSet
from graphtrial.graphs.column import RENUMBERED, SHIFTED, Level
from graphtrial.io.text_tables import PADDING, Array, line_error, read_integers, read_numbers

TABLES = (
    *("A", "graph_indicator", "graph_labels", "graph_attributes"),
    *("node_labels", "node_attributes", "edge_labels", "edge_attributes"),
)
Ids = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Edges:
    """Edges [edges, 2] with labels and attributes."""

    ends: Ids
    data: Mapping[str, Array]

    def take(self, rows: Array) -> Edges:
        """Select edges by index or mask."""
        return Edges(self.ends[rows], {name: values[rows] for name, values in self.data.items()})


def read_folder(folder: Path, name: str) -> GraphSet:
    """Read the tables of the set `name` in a folder.

    Columns: `node_label`, `edge_label` (categories), `node_attributes`, `edge_attributes`, `y` (the class, or float
    targets where graphs have no classes), `graph_attributes` (where graphs have both). Edges are made undirected and
    coalesced; self-loops are removed and counted per graph in the column `self_loops`.
    """
    candidates = {table: folder / f"{name}_{table}.txt" for table in TABLES}
    paths = {table: path for table, path in candidates.items() if path.is_file()}
    for table in ("A", "graph_indicator"):
        if table not in paths:
            raise CorruptFileError(f"{candidates[table].name} is missing, without which there are no graphs")
    graph_tables = _graph_tables(paths)
    indicator = _single(paths["graph_indicator"], read_integers(paths["graph_indicator"]))
    graph, graphs = _graph_numbers(paths["graph_indicator"], indicator, graph_tables)
    nodes = _labels_and_attributes(paths, "node", len(indicator), "nodes")
    edges, loops = _read_edges(paths, graph, graphs)

    order = np.argsort(graph, kind="stable")  # nodes need not be sorted by graph
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    counts = np.bincount(graph, minlength=graphs)
    first = np.cumsum(counts) - counts
    of_edge = graph[edges.ends[:, 0]]
    by_graph = np.argsort(of_edge, kind="stable")
    ends, of_edge, edges = edges.ends[by_graph], of_edge[by_graph], edges.take(by_graph)
    local = (rank[ends] - first[of_edge][:, None]).T
    columns = {name: replace(column, values=column.values[order]) for name, column in _columns(nodes, "node").items()}
    columns |= _columns(edges.data, "edge") | _targets(graph_tables)
    if loops.any():
        columns[SELF_LOOPS] = Column(loops, "graph", "self-loops of the file, which are left out")
    return GraphSet.build(counts, np.bincount(of_edge, minlength=graphs), local, columns)


def _graph_tables(paths: Mapping[str, Path]) -> dict[str, Array]:
    tables: dict[str, Array] = {}
    if "graph_labels" in paths:
        path = paths["graph_labels"]
        tables["graph_labels"] = _single(path, read_integers(path))
    if "graph_attributes" in paths:
        tables["graph_attributes"] = read_numbers(paths["graph_attributes"])
    if not tables:
        raise CorruptFileError("neither graph_labels nor graph_attributes is there, so that nothing can be learnt")
    if len({len(values) for values in tables.values()}) > 1:
        raise CorruptFileError(
            f"there are labels of {len(tables['graph_labels'])} graphs, but attributes of "
            f"{len(tables['graph_attributes'])}"
        )
    return tables


def _graph_numbers(path: Path, indicator: Ids, tables: Mapping[str, Array]) -> tuple[Ids, int]:
    """Return the graph index of each node and the number of graphs, the length of the graph tables.

    Graph ids that have gaps are renumbered.
    """
    graphs = len(next(iter(tables.values())))
    start = 0 if indicator.min() == 0 else 1
    if indicator.min() >= start and indicator.max() - start < graphs:
        return indicator - start, graphs
    ids, numbers = np.unique(indicator, return_inverse=True)
    if len(ids) == graphs:
        return numbers.astype(np.int64), graphs
    row = int(np.argmax((indicator < start) | (indicator - start >= graphs)))
    raise line_error(path, row, f"the node belongs to graph {indicator[row]}, but there are {graphs} graphs")


def _labels_and_attributes(paths: Mapping[str, Path], subject: str, rows: int, name: str) -> dict[str, Array]:
    tables: dict[str, Array] = {}
    for kind in ("labels", "attributes"):
        path = paths.get(f"{subject}_{kind}")
        if path is None:
            continue
        values = read_integers(path, ragged=True) if kind == "labels" else read_numbers(path)
        if len(values) != rows:
            raise CorruptFileError(f"{path.name} has {len(values)} lines, but there are {rows} {name}")
        tables[kind] = values
    return tables


def _read_edges(paths: Mapping[str, Path], graph: Ids, graphs: int) -> tuple[Edges, Ids]:
    """Return coalesced undirected edges without self-loops, and the number of self-loops of each graph."""
    path = paths["A"]
    ends = read_integers(path)
    if ends.shape[1] != 2:
        raise line_error(path, 0, f"an edge has two ends, here are {ends.shape[1]} numbers")
    data = _labels_and_attributes(paths, "edge", len(ends), "edges")
    start = 0 if ends.min(initial=1) == 0 and ends.max(initial=0) < len(graph) else 1
    ends = ends - start
    outside = ((ends < 0) | (ends >= len(graph))).any(axis=1)
    if outside.any():
        row = int(np.argmax(outside))
        wrong = next(int(end) for end in ends[row] if not 0 <= end < len(graph))
        raise line_error(path, row, f"an edge has node {wrong + start}, but there are {len(graph)} nodes")
    across = graph[ends[:, 0]] != graph[ends[:, 1]]
    if across.any():
        raise line_error(path, int(np.argmax(across)), "an edge goes from one graph to another")
    looped = np.unique(ends[ends[:, 0] == ends[:, 1], 0])
    edges = Edges(ends, data).take(ends[:, 0] != ends[:, 1])
    return _to_undirected(_coalesce(edges, len(graph)), len(graph)), np.bincount(graph[looped], minlength=graphs)


def _coalesce(edges: Edges, nodes: int) -> Edges:
    """Remove duplicate edges with equal labels and attributes."""
    key = edges.ends[:, 0] * nodes + edges.ends[:, 1]
    if (np.diff(np.sort(key)) > 0).all():
        return edges
    features = [column for values in edges.data.values() for column in values.T]
    order = np.lexsort((*features, key))
    new = np.ones(len(order), bool)
    new[1:] = np.any([column[order][1:] != column[order][:-1] for column in (key, *features)], axis=0)
    return edges.take(np.sort(order[new]))


def _to_undirected(edges: Edges, nodes: int) -> Edges:
    """Add missing reverse edges."""
    key, reverse = (edges.ends[:, end] * nodes + edges.ends[:, 1 - end] for end in (0, 1))
    if np.array_equal(np.sort(key), np.sort(reverse)):
        return edges
    one_way = edges.take(~np.isin(reverse, key))
    ends = np.concatenate([edges.ends, one_way.ends[:, ::-1]])
    return Edges(ends, {name: np.concatenate([v, one_way.data[name]]) for name, v in edges.data.items()})


def _columns(tables: Mapping[str, Array], level: Level) -> dict[str, Column]:
    columns: dict[str, Column] = {}
    if "labels" in tables:
        columns[f"{level}_label"] = _label_column(tables["labels"], level)
    if "attributes" in tables:
        columns[f"{level}_attributes"] = Column(tables["attributes"], level, f"{level} attributes")
    return columns


def _label_column(labels: Array, level: Level) -> Column:
    """Return labels as categories shifted to start at 0; labels over time are unchanged."""
    meaning = f"{level} label"
    if (labels == PADDING).any():
        padded = np.where(labels == PADDING, -1, labels)
        return Column(padded, level, f"{meaning}s over time, -1 where there are no more")
    low = labels.min(axis=0)
    types = labels.max(axis=0) - low + 1
    if int(types.max()) > 256 + 4 * len(labels):  # renumber sparse labels
        labels = np.stack([np.unique(column, return_inverse=True)[1] for column in labels.T], axis=1)
        low, types, meaning = labels.min(axis=0), labels.max(axis=0) + 1, f"{meaning}, {RENUMBERED}"
    values = compact(labels - low, int(types.max()))
    shift = f", {' and '.join(map(str, low))}{SHIFTED}" if low.any() else ""
    return Column(values[:, 0] if values.shape[1] == 1 else values, level, meaning + shift, types=int(types.max()))


def _targets(tables: Mapping[str, Array]) -> dict[str, Column]:
    if "graph_labels" not in tables:
        return {"y": Column(tables["graph_attributes"], "graph", "targets")}
    classes, y = np.unique(tables["graph_labels"], return_inverse=True)
    columns = {"y": Column(compact(y, len(classes)), "graph", "class", types=len(classes))}
    if "graph_attributes" in tables:
        columns["graph_attributes"] = Column(tables["graph_attributes"], "graph", "graph attributes")
    return columns


def _single(path: Path, values: Ids) -> Ids:
    if values.shape[1] != 1:
        raise line_error(path, 0, f"one number per line was expected, here are {values.shape[1]}")
    return values[:, 0]


def compact(values: Array, types: int) -> Array:
    """Cast categories to the smallest sufficient integer dtype."""
    return values.astype(np.uint8 if types <= 256 else np.uint16 if types <= 65_536 else np.int32)
