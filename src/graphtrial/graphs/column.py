"""Columns: a value or vector per node, edge, graph or node pair, and their validation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import InvalidGraphError
from graphtrial.graphs import storage

Array = npt.NDArray[Any]
SHIFTED, RENUMBERED = " in the file being 0", "counted through"
Level = Literal["node", "edge", "graph", "pair"]
LEVELS: tuple[Level, ...] = ("node", "edge", "graph", "pair")
PAIRS = "pairs"
"""Column of the pairs of nodes [pairs, 2] that pair-level columns describe."""
PAIR_COUNT = "pair_count"
"""Column of the number of pairs of each graph, in a set of many graphs with pairs."""
QUERY = "query"
"""Column of the query of each pair: a link is ranked among the other pairs of its query."""
TARGET = "y"
"""Column of the targets; a missing label is NaN."""


@dataclass(frozen=True)
class Column:
    """One value or vector per node, edge, graph or pair.

    values: array with one row per node, edge, graph or pair. level: node, edge, graph or pair. meaning: description of
    the values. types: number of categories of a categorical column, else None. missing: whether NaN stands for a
    missing value.

    Pairs are the candidate links of link prediction: column `pairs` [pairs, 2] has their source and target nodes,
    numbered within their graph, and every other pair column has one row per candidate. In a set of many graphs the
    pairs are sorted by graph, and the graph column `pair_count` has their numbers.
    """

    values: Array
    level: Level
    meaning: str = ""
    types: int | None = None
    missing: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.values, np.ndarray):
            try:
                object.__setattr__(self, "values", np.asarray(self.values))
            except ValueError as error:
                raise InvalidGraphError(f"the rows of a column differ in shape: {error}") from None

    @property
    def first_label(self) -> int | None:
        """Label in the raw file of category 0; None where the labels were renumbered.

        Parsed from `meaning`, which is part of the content hash, so that trials which depend on it have it in their id.
        """
        if self.meaning.endswith(RENUMBERED):
            return None
        _, _, number = self.meaning.removesuffix(SHIFTED).rpartition(", ")
        return int(number) if self.meaning.endswith(SHIFTED) and number.lstrip("-").isdigit() else 0

    @property
    def width(self) -> int:
        """Number of values per row: 1 for a column of scalars."""
        return int(np.prod(self.values.shape[1:], dtype=np.int64))


def check_column(name: str, column: Column, size: Mapping[Level, int]) -> None:
    """Validate name, level, dtype, shape and values of a column for a set with `size` rows per level."""
    storage.check_name(name)
    if column.level not in LEVELS:
        raise InvalidGraphError(f"column '{name}' has level '{column.level}'; levels are {', '.join(LEVELS)}")
    rows, values = size[column.level], column.values
    if values.dtype.kind not in "biuf" or values.dtype.itemsize > 8 or not values.dtype.isnative:
        raise InvalidGraphError(
            f"column '{name}' has dtype {values.dtype}; use bool, integer or float of at most 64 bits "
            "in native byte order"
        )
    if values.ndim == 0 or len(values) != rows:
        raise InvalidGraphError(f"column '{name}' has shape {values.shape}, but the set has {rows} {column.level}s")
    if values.dtype.kind == "f" and not (valid := _valid(values, missing=column.missing or name == TARGET)).all():
        bad = int(np.argmax(~valid.reshape(len(values), -1).all(axis=1)))
        raise InvalidGraphError(f"column '{name}' is not finite in {column.level} {bad}")
    if column.types is not None and values.dtype.kind == "f":
        raise InvalidGraphError(
            f"column '{name}' has {column.types} types, but dtype {values.dtype}; category ids must be integers"
        )
    if column.types is not None and values.size and (values.min() < 0 or values.max() >= column.types):
        raise InvalidGraphError(
            f"column '{name}' has {column.types} types, but values from {values.min()} to {values.max()}"
        )


def _valid(values: npt.NDArray[Any], missing: bool) -> npt.NDArray[np.bool_]:
    """Return the mask of finite values, and of NaN where values may be missing."""
    finite: npt.NDArray[np.bool_] = np.isfinite(values)
    return finite | np.isnan(values) if missing else finite


def check_pairs(columns: Mapping[str, Column], size: Mapping[Level, int], node_counts: Array) -> None:
    """Validate the column `pairs`: required by other pair columns, shape [pairs, 2], indices within their graph."""
    pair_columns = [name for name, column in columns.items() if column.level == "pair"]
    if not pair_columns:
        return
    pairs = columns.get(PAIRS)
    if pairs is None or pairs.level != "pair":
        raise InvalidGraphError(f"column '{pair_columns[0]}' has level 'pair', but there is no column '{PAIRS}'")
    if pairs.values.dtype.kind not in "iu" or pairs.values.ndim != 2 or pairs.values.shape[1] != 2:
        raise InvalidGraphError(f"column '{PAIRS}' must have shape [pairs, 2] of integers, not {pairs.values.shape}")
    limit = _nodes_of_pairs(columns, size, node_counts)
    wrong = np.any((pairs.values < 0) | (pairs.values >= limit), axis=1)
    if wrong.any():
        row = int(np.argmax(wrong))
        nodes = int(np.broadcast_to(limit, (len(wrong), 1))[row, 0])
        raise InvalidGraphError(
            f"column '{PAIRS}' has a node index outside 0 to {nodes - 1}: pair {row} is {pairs.values[row].tolist()}"
        )


def _nodes_of_pairs(columns: Mapping[str, Column], size: Mapping[Level, int], node_counts: Array) -> Array:
    """Return the number of nodes of the graph of each pair, [pairs, 1], or [1, 1] where there is one graph."""
    count = columns.get(PAIR_COUNT)
    if count is None:
        if size["graph"] != 1:
            raise InvalidGraphError(
                f"node pairs need a set with a single graph, or the graph column '{PAIR_COUNT}'; this one has "
                f"{size['graph']} graphs"
            )
        return np.asarray(node_counts, np.int64).reshape(1, 1)
    values = count.values
    shaped = count.level == "graph" and values.ndim == 1 and len(values) == size["graph"]
    if not shaped or values.dtype.kind not in "iu" or (values < 0).any():
        raise InvalidGraphError(f"column '{PAIR_COUNT}' must have one integer from 0 per graph")
    if int(values.sum()) != size["pair"]:
        raise InvalidGraphError(
            f"column '{PAIR_COUNT}' sums to {int(values.sum())}, but there are {size['pair']} pairs"
        )
    return np.repeat(np.asarray(node_counts, np.int64), values)[:, None]
