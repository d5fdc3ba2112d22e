"""The TU text format: one large graph in text tables, and a list that says which node belongs to which graph.

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
class Links:
    """Edges [edges, 2] between nodes numbered from 0, and what each row of the tables about edges says of them."""

    ends: Ids
    data: Mapping[str, Array]

    def take(self, rows: Array) -> Links:
        """Return the chosen edges."""
        return Links(self.ends[rows], {name: values[rows] for name, values in self.data.items()})


def read_folder(folder: Path, name: str) -> GraphSet:
    """Read the tables of the set `name` in a folder.

    Columns: `node_label`, `edge_label` (categories), `node_attributes`, `edge_attributes`, `y` (the class, or float
    targets where graphs have no classes), `graph_attributes` (where graphs have both). Every edge goes both ways with
    its labels, also where the file has it once; an edge that is there twice is kept once; self-loops are left out, and
    where there are some `self_loops` says how many each graph had.
    """
    paths = {table: folder / f"{name}_{table}.txt" for table in TABLES}
    there = {table: path for table, path in paths.items() if path.is_file()}
    for table in ("A", "graph_indicator"):
        if table not in there:
            raise CorruptFileError(f"{paths[table].name} is missing, without which there are no graphs")
    graph_tables = _graph_tables(there)
    indicator = _single(there["graph_indicator"], read_integers(there["graph_indicator"]))
    graph, graphs = _graph_numbers(there["graph_indicator"], indicator, graph_tables)
    nodes = _rows_of(there, "node", len(indicator), "nodes")
    links, loops = _read_links(there, graph, graphs)

    order = np.argsort(graph, kind="stable")  # the nodes of a graph may be anywhere in the file
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    counts = np.bincount(graph, minlength=graphs)
    first = np.cumsum(counts) - counts
    of_edge = graph[links.ends[:, 0]]
    by_graph = np.argsort(of_edge, kind="stable")
    ends, of_edge, links = links.ends[by_graph], of_edge[by_graph], links.take(by_graph)
    inside = (place[ends] - first[of_edge][:, None]).T
    columns = {name: replace(column, values=column.values[order]) for name, column in _columns(nodes, "node").items()}
    columns |= _columns(links.data, "edge") | _targets(graph_tables)
    if loops.any():
        columns[SELF_LOOPS] = Column(loops, "graph", "self-loops of the file, which are left out")
    return GraphSet.build(counts, np.bincount(of_edge, minlength=graphs), inside, columns)


def _graph_tables(there: Mapping[str, Path]) -> dict[str, Array]:
    found: dict[str, Array] = {}
    if "graph_labels" in there:
        path = there["graph_labels"]
        found["graph_labels"] = _single(path, read_integers(path))
    if "graph_attributes" in there:
        found["graph_attributes"] = read_numbers(there["graph_attributes"])
    if not found:
        raise CorruptFileError("neither graph_labels nor graph_attributes is there, so that nothing can be learnt")
    if len({len(values) for values in found.values()}) > 1:
        raise CorruptFileError(
            f"there are labels of {len(found['graph_labels'])} graphs, but attributes of "
            f"{len(found['graph_attributes'])}"
        )
    return found


def _graph_numbers(path: Path, indicator: Ids, tables: Mapping[str, Array]) -> tuple[Ids, int]:
    """Return the graph of each node from 0, and how many graphs there are, which the tables of graphs say.

    Graph i has line i of those tables. Where fewer lines than ids are there, the ids have gaps and are counted through.
    """
    graphs = len(next(iter(tables.values())))
    start = 0 if indicator.min() == 0 else 1
    if indicator.min() >= start and indicator.max() - start < graphs:
        return indicator - start, graphs
    known, numbers = np.unique(indicator, return_inverse=True)
    if len(known) == graphs:
        return numbers.astype(np.int64), graphs
    row = int(np.argmax((indicator < start) | (indicator - start >= graphs)))
    raise line_error(path, row, f"the node belongs to graph {indicator[row]}, but there are {graphs} graphs")


def _rows_of(there: Mapping[str, Path], what: str, rows: int, name: str) -> dict[str, Array]:
    found: dict[str, Array] = {}
    for kind in ("labels", "attributes"):
        path = there.get(f"{what}_{kind}")
        if path is None:
            continue
        values = read_integers(path, ragged=True) if kind == "labels" else read_numbers(path)
        if len(values) != rows:
            raise CorruptFileError(f"{path.name} has {len(values)} lines, but there are {rows} {name}")
        found[kind] = values
    return found


def _read_links(there: Mapping[str, Path], graph: Ids, graphs: int) -> tuple[Links, Ids]:
    """Return the edges, each both ways and once, and how many nodes of each graph have a self-loop."""
    path = there["A"]
    ends = read_integers(path)
    if ends.shape[1] != 2:
        raise line_error(path, 0, f"an edge has two ends, here are {ends.shape[1]} numbers")
    data = _rows_of(there, "edge", len(ends), "edges")
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
    links = Links(ends, data).take(ends[:, 0] != ends[:, 1])
    return _both_ways(_once(links, len(graph)), len(graph)), np.bincount(graph[looped], minlength=graphs)


def _once(links: Links, nodes: int) -> Links:
    """Leave out the repetitions of an edge that say the same of it."""
    key = links.ends[:, 0] * nodes + links.ends[:, 1]
    if (np.diff(np.sort(key)) > 0).all():
        return links
    says = [column for values in links.data.values() for column in values.T]
    order = np.lexsort((*says, key))
    new = np.ones(len(order), bool)
    new[1:] = np.any([column[order][1:] != column[order][:-1] for column in (key, *says)], axis=0)
    return links.take(np.sort(order[new]))


def _both_ways(links: Links, nodes: int) -> Links:
    """Add the other direction of the edges that have one only."""
    key, reverse = (links.ends[:, end] * nodes + links.ends[:, 1 - end] for end in (0, 1))
    if np.array_equal(np.sort(key), np.sort(reverse)):
        return links
    alone = links.take(~np.isin(reverse, key))
    ends = np.concatenate([links.ends, alone.ends[:, ::-1]])
    return Links(ends, {name: np.concatenate([v, alone.data[name]]) for name, v in links.data.items()})


def _columns(tables: Mapping[str, Array], level: Level) -> dict[str, Column]:
    columns: dict[str, Column] = {}
    if "labels" in tables:
        columns[f"{level}_label"] = _label_column(tables["labels"], level)
    if "attributes" in tables:
        columns[f"{level}_attributes"] = Column(tables["attributes"], level, f"{level} attributes")
    return columns


def _label_column(labels: Array, level: Level) -> Column:
    """Return labels as categories from 0, the smallest label of the file being 0; temporal labels stay as they are."""
    meaning = f"{level} label"
    if (labels == PADDING).any():
        padded = np.where(labels == PADDING, -1, labels)
        return Column(padded, level, f"{meaning}s over time, -1 where there are no more")
    low = labels.min(axis=0)
    types = labels.max(axis=0) - low + 1
    if int(types.max()) > 256 + 4 * len(labels):  # labels that are no small numbers are counted through
        labels = np.stack([np.unique(column, return_inverse=True)[1] for column in labels.T], axis=1)
        low, types, meaning = labels.min(axis=0), labels.max(axis=0) + 1, f"{meaning}, {RENUMBERED}"
    values = compact(labels - low, int(types.max()))
    shift = f", {' and '.join(map(str, low))}{SHIFTED}" if low.any() else ""
    return Column(values[:, 0] if values.shape[1] == 1 else values, level, meaning + shift, types=int(types.max()))


def _targets(tables: Mapping[str, Array]) -> dict[str, Column]:
    if "graph_labels" not in tables:
        return {"y": Column(tables["graph_attributes"], "graph", "targets")}
    known, numbers = np.unique(tables["graph_labels"], return_inverse=True)
    columns = {"y": Column(compact(numbers, len(known)), "graph", "class", types=len(known))}
    if "graph_attributes" in tables:
        columns["graph_attributes"] = Column(tables["graph_attributes"], "graph", "graph attributes")
    return columns


def _single(path: Path, values: Ids) -> Ids:
    if values.shape[1] != 1:
        raise line_error(path, 0, f"one number per line was expected, here are {values.shape[1]}")
    return values[:, 0]


def compact(values: Array, types: int) -> Array:
    """Return categories in the smallest type of integers that holds them."""
    return values.astype(np.uint8 if types <= 256 else np.uint16 if types <= 65_536 else np.int32)
