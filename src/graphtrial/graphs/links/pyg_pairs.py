"""Labelled pairs of nodes of PyG `Data`: `edge_label_index`, `edge_label` and, where links are ranked, `query`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from graphtrial.core.errors import InvalidGraphError
from graphtrial.graphs.column import PAIR_COUNT, PAIRS, QUERY, Column

Array = npt.NDArray[Any]
INDEX, LABEL = "edge_label_index", "edge_label"
LINKED = "whether they are linked"


def has_pairs(names: Sequence[str]) -> bool:
    """Return whether the attributes are those of link prediction: labelled pairs, and no target of another level."""
    return INDEX in names and "y" not in names


def pair_columns(data: Sequence[Any]) -> dict[str, Column]:
    """Return the columns `pairs`, `y`, `query` where it is given, and `pair_count` where there are many graphs."""
    pairs = [_pairs(item, number) for number, item in enumerate(data)]
    labels = [
        _rows(item, number, LABEL, len(rows)) for number, (item, rows) in enumerate(zip(data, pairs, strict=True))
    ]
    linked = np.concatenate(labels)
    if not np.isin(linked, (0, 1)).all():
        raise InvalidGraphError(f"'{LABEL}' must be 1 for a link and 0 for a pair without one")
    columns = {
        PAIRS: Column(np.concatenate(pairs).astype(np.int32), "pair", "two nodes"),
        "y": Column(linked.astype(np.uint8), "pair", LINKED, types=2),
    }
    if len(data) > 1:
        columns[PAIR_COUNT] = Column(np.array([len(rows) for rows in pairs]), "graph", "number of its pairs")
    elif QUERY in data[0].keys():  # noqa: SIM118 - PyG's Data is not a dict
        query = _rows(data[0], 0, QUERY, len(pairs[0]))
        if query.dtype.kind not in "iu":
            raise InvalidGraphError(f"'{QUERY}' must be integers, not {query.dtype}")
        columns[QUERY] = Column(query, "pair", "links are ranked among the pairs of their query")
    return columns


def _pairs(item: Any, graph: int) -> Array:
    values = item[INDEX] if INDEX in item.keys() else None  # noqa: SIM118 - PyG's Data is not a dict
    if not torch.is_tensor(values) or values.dim() != 2 or values.shape[0] != 2 or values.is_floating_point():
        raise InvalidGraphError(f"graph {graph}: '{INDEX}' must be integers of shape [2, pairs]")
    pairs = values.detach().cpu().numpy().T
    outside = (pairs < 0) | (pairs >= int(item.num_nodes))
    if outside.any():
        wrong = pairs[outside.any(axis=1)][0].tolist()
        raise InvalidGraphError(f"graph {graph} has {int(item.num_nodes)} nodes, but '{INDEX}' has the pair {wrong}")
    return np.asarray(pairs)


def _rows(item: Any, graph: int, name: str, rows: int) -> Array:
    values = item[name] if name in item.keys() else None  # noqa: SIM118 - PyG's Data is not a dict
    if not torch.is_tensor(values) or values.numel() != rows:
        given = f"{values.numel()} values" if torch.is_tensor(values) else "none"
        raise InvalidGraphError(
            f"graph {graph}: '{name}' must have one value for each of {rows} pairs; there are {given}"
        )
    return np.asarray(values.detach().cpu().numpy().reshape(-1))
