"""Names of graph attributes that hold a split: masks, index lists and part names.

| name | value of a graph |
|---|---|
| `train_mask`, `val_mask`, `test_mask` | bool per node or edge, [rows] or [rows, splits]; or one bool per graph |
| `train_idx`, `val_idx`, `test_idx` | node indices of a single graph |
| `split` | `train`, `val`, `test` or `none`: one name for the graph, or a list with one per node or edge |
"""

from __future__ import annotations

from typing import Literal

from graphtrial.core.errors import InvalidGraphError

Kind = Literal["mask", "index", "name"]

PART = "part"
"""Column with the part of each example as an index into `PARTS`, [rows] or [rows, splits]."""
PARTS = ("train", "val", "test", "none")
NONE = len(PARTS) - 1
SPLIT = "split"

SPELLINGS = {"training": "train", "valid": "val", "validation": "val", "dev": "val", "testing": "test"}
KINDS: dict[str, Kind] = {"mask": "mask", "idx": "index", "index": "index", "indices": "index", "ids": "index"}
SUFFIXES = {*KINDS, "masks", "id", "node", "nodes", "edge", "edges", "graph", "graphs", "pos", "neg", "set", "split"}
"""Suffixes after `train_`, `val_` or `test_` that denote a split, whether or not it can be read."""


def parse_mask_name(name: str) -> tuple[Kind, int] | None:
    """Parse an attribute name into the kind of its values and its part; None for an attribute that is not a split.

    A name that looks like a split but cannot be read raises `InvalidGraphError`, so that no mask becomes a feature.
    """
    if name.lower() == SPLIT:
        return "name", NONE
    prefix, _, suffix = name.lower().partition("_")
    part = SPELLINGS.get(prefix, prefix)
    if part not in PARTS[:NONE] or not suffix:
        return None
    if suffix in KINDS:
        return KINDS[suffix], PARTS.index(part)
    if SUFFIXES & {*suffix.split("_")}:
        raise InvalidGraphError(
            f"'{name}' looks like a split, but is not read as one: masks are called train_mask, val_mask and "
            "test_mask, node indices train_idx, val_idx and test_idx; rename or remove it"
        )
    return None
