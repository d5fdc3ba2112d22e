"""Importer of CSV tables: edges, and optionally nodes and graphs, each with a header.

| table | columns |
|---|---|
| `edges.csv` | `source`, `target`, features; also `graph` where there are several graphs |
| `nodes.csv` | `node`, features; also `graph` |
| `graphs.csv` | `graph` |
| `pairs.csv` | `source`, `target`, label `y`, 1 for a link; `query` where links of one graph are ranked; also `graph` |

The target is the column `y` or `label` of one of the tables, the split its column `split`, or masks such as
`train_mask`; all other columns are features, each with numbers or with several numbers in quotation marks. A single
feature with integers from 0 is a category. The names `src_id`, `dst_id`, `node_id` and `graph_id` of DGL's CSVDataset
are understood as well. Without a table of nodes, the nodes are those of the edges.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphtrial.core.errors import CorruptFileError, GraphTrialError, InvalidGraphError
from graphtrial.datasets.custom.importers import check_size, reason
from graphtrial.datasets.custom.importers.records import graphs_from_records
from graphtrial.graphs import GraphSet
from graphtrial.graphs.mask_names import parse_mask_name

TABLES = ("edges.csv", "nodes.csv", "graphs.csv", "pairs.csv")
ENDS = ("graph", "source", "target")
KEYS = {"edges.csv": ENDS, "nodes.csv": ("graph", "node"), "graphs.csv": ("graph",), "pairs.csv": ENDS}
TARGETS = {"edges.csv": "edge_y", "nodes.csv": "node_y", "graphs.csv": "y", "pairs.csv": "pair_y"}
FEATURES = {"edges.csv": "edge_attr", "nodes.csv": "x", "graphs.csv": "", "pairs.csv": "query"}
SPELLINGS = {
    **{"graph_id": "graph", "node_id": "node", "id": "node"},
    **{"src": "source", "src_id": "source", "dst": "target", "dst_id": "target"},
}
LONGEST_FIELD = 1 << 24
ONLY_GRAPH = ""


@dataclass
class _Table:
    """Rows of a table by graph; each row has its key, features, target and masks."""

    name: str
    features: list[str]
    target: str | None
    masks: list[str]
    rows: dict[str, list[tuple[int, list[str], list[Any], Any, list[Any]]]] = field(default_factory=dict)


def read(
    paths: list[Path],
    node_features: tuple[str, ...] = (),
    edge_features: tuple[str, ...] = (),
    target: str | None = None,
    node_target: str | None = None,
    both_ways: bool = False,
) -> GraphSet:
    """Read the tables; `target` and `node_target` name the column of graphs or nodes to predict, in place of `y`."""
    by_name = {path.name: path for path in paths}
    if "edges.csv" not in by_name or not by_name.keys() <= set(TABLES):
        raise GraphTrialError(f"CSV tables are called {', '.join(TABLES)}, of which the first is needed")
    chosen = {"edges.csv": edge_features, "nodes.csv": node_features}
    targets = {"nodes.csv": node_target, "graphs.csv": target}
    names = [name for name in TABLES if name in by_name]  # edges before pairs: they number the nodes
    tables = {name: _table(by_name[name], chosen.get(name, ()), targets.get(name)) for name in names}
    return graphs_from_records(_records(tables), by_name["edges.csv"].parent.name or "the folder", both_ways=both_ways)


def _table(path: Path, features: Sequence[str], target: str | None) -> _Table:
    lines = _lines(path)
    try:
        _, header = next(lines)
    except StopIteration:
        raise CorruptFileError(f"{path.name} is empty; its first row names the columns") from None
    names = [SPELLINGS.get(word.strip(), word.strip()) for word in header]
    keys = [key for key in KEYS[path.name] if key in names]
    missing = [key for key in KEYS[path.name] if key not in names and key != "graph"]
    if missing or len({*names}) < len(names) or (path.name == "graphs.csv" and not keys):
        wanted = ", ".join(KEYS[path.name])
        raise CorruptFileError(f"{path.name}, row 1: the columns {wanted} are needed, each once; here is {names}")
    masks = [name for name in names if _is_mask(path, name)]
    target_column = target or next((name for name in ("y", "label") if name in names), None)
    for name in (*features, *([target_column] if target_column else [])):
        if name not in names:
            raise GraphTrialError(f"{path.name} has no column '{name}'; it has {', '.join(names)}")
    others = [name for name in names if name not in (*KEYS[path.name], *masks, target_column)]
    if path.name == "pairs.csv" and (target_column is None or others not in ([], ["query"])):
        raise CorruptFileError(
            f"{path.name}, row 1: the columns are source, target, y, query and the split, not {names}"
        )
    used = list(features) or (others if FEATURES[path.name] else [])
    table = _Table(path.name, used, target_column, masks)
    for line, row in lines:
        if len(row) != len(names):
            raise CorruptFileError(f"{path.name}, row {line}: {len(row)} values for {len(names)} columns")
        cells = dict(zip(names, row, strict=True))
        where = f"{path.name}, row {line}"
        values = [value for name in used for value in _numbers(cells[name], f"{where}: '{name}'")]
        label = None if target_column is None else _label(cells[target_column], f"{where}: '{target_column}'")
        key = [cells[name].strip() for name in keys if name != "graph"]
        graph = cells["graph"].strip() if "graph" in names else ONLY_GRAPH
        table.rows.setdefault(graph, []).append((line, key, values, label, [_mask(cells[name]) for name in masks]))
    return table


def _records(tables: dict[str, _Table]) -> Iterator[tuple[str, dict[str, Any]]]:
    edges, nodes, graphs = tables["edges.csv"], tables.get("nodes.csv"), tables.get("graphs.csv")
    names = [*(graphs or nodes or edges).rows]
    graph_names = {*names}
    for table in tables.values():
        for graph, rows in table.rows.items():
            if graph not in graph_names:
                raise CorruptFileError(f"{table.name}, row {rows[0][0]}: graph '{graph}' is not in the other tables")
    words = {name: _classes(table) for name, table in tables.items()}
    for graph in names:
        number: dict[str, int] = {}
        for line, (node,), *_ in [] if nodes is None else nodes.rows.get(graph, []):
            if node in number:
                raise CorruptFileError(f"nodes.csv, row {line}: node '{node}' was named before")
            number[node] = len(number)
        pairs = {name: table.rows.get(graph, []) for name, table in tables.items() if KEYS[name] == ENDS}
        for name, rows in pairs.items():
            for line, pair, *_ in rows:
                for node in pair:
                    if node not in number and (nodes is not None or name == "pairs.csv"):
                        other = "edges.csv" if nodes is None else "nodes.csv"
                        raise CorruptFileError(f"{name}, row {line}: node '{node}' is not in {other}")
                    number.setdefault(node, len(number))
        check_size(len(number), f"graph '{graph}'")
        ends = {name: [[number[node] for node in pair] for _, pair, *_ in rows] for name, rows in pairs.items()}
        record: dict[str, Any] = {"nodes": len(number), "edges": ends["edges.csv"]}
        record |= {"pairs": ends["pairs.csv"]} if "pairs.csv" in ends else {}
        for name, table in tables.items():
            _add_columns(record, table, table.rows.get(graph, []), words[name])
        yield f"graph '{graph}'" if graph else "the graph", record


def _add_columns(record: dict[str, Any], table: _Table, rows: list[Any], classes: dict[str, int]) -> None:
    if table.name == "graphs.csv" and len(rows) > 1:
        raise CorruptFileError(f"graphs.csv, row {rows[1][0]}: this graph was named before")
    for line, _, values, *_ in rows:
        if len(values) != len(rows[0][2]):
            raise CorruptFileError(f"{table.name}, row {line}: {len(values)} numbers, but {len(rows[0][2])} before")
    if table.features:
        features = [values for _, _, values, *_ in rows]
        single = all(len(values) == 1 for values in features)
        record[FEATURES[table.name]] = [value for (value,) in features] if single else features
    if table.target is not None:
        labels = [classes[label] if isinstance(label, str) else label for *_, label, _ in rows]
        record[TARGETS[table.name]] = labels[0] if table.name == "graphs.csv" else labels
    for position, mask in enumerate(table.masks):
        values = [masks[position] for *_, masks in rows]
        record[mask] = values[0] if table.name == "graphs.csv" else values


def _classes(table: _Table) -> dict[str, int]:
    """Return the number of each class that is a word, in alphabetical order; words and numbers do not mix."""
    rows = [row for rows in table.rows.values() for row in rows]
    words = sorted({label for *_, label, _ in rows if isinstance(label, str)})
    for line, _, _, label, _ in rows if words else ():
        if not isinstance(label, str):
            raise CorruptFileError(f"{table.name}, row {line}: '{table.target}' is a number here, a word elsewhere")
    return {word: number for number, word in enumerate(words)}


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    csv.field_size_limit(LONGEST_FIELD)
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream, strict=True)
            for row in reader:
                if row:
                    yield reader.line_num, row
    except (csv.Error, UnicodeDecodeError) as error:
        raise CorruptFileError(f"{path.name} is no CSV table in UTF-8: {reason(error)}") from error


def _is_mask(path: Path, name: str) -> bool:
    try:
        return parse_mask_name(name) is not None
    except InvalidGraphError as error:
        raise CorruptFileError(f"{path.name}, row 1: {error}") from error


def _numbers(text: str, where: str) -> list[float | int]:
    """Parse a cell with one number, or several separated by commas."""
    values = [_number(word) for word in text.split(",")]
    if any(value is None for value in values):
        raise CorruptFileError(
            f"{where} must be a number, not '{text[:40]}': number categories from 0, or choose other features "
            "by --node-features and --edge-features"
        )
    return [value for value in values if value is not None]


def _label(text: str, where: str) -> Any:
    """Parse a target: a number or several, with missing ones empty, or a word."""
    words = text.split(",")
    values = [math.nan if not word.strip() else _number(word) for word in words]
    if None in values:
        if len(words) > 1:
            raise CorruptFileError(f"{where} must be numbers, not '{text[:40]}'")
        return text.strip()
    return values[0] if len(values) == 1 else values


def _mask(text: str) -> Any:
    word = text.strip().lower()
    return {"true": True, "1": True, "1.0": True, "false": False, "0": False, "0.0": False}.get(word, text.strip())


def _number(text: str) -> float | int | None:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
