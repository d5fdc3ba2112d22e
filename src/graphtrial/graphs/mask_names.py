"""Which attributes of graphs name a split.

| name | value of a graph |
|---|---|
| `train_mask`, `val_mask`, `test_mask` | true or false per node or edge, [rows] or [rows, splits]; or one per graph |
| `train_idx`, `val_idx`, `test_idx` | the nodes, by number, of a single graph |
| `split` | `train`, `val`, `test` or `none`: one word for the graph, or a list of one per node or edge |
"""

from __future__ import annotations

from typing import Literal

from graphtrial.core.errors import InvalidGraphError

Kind = Literal["mask", "ids", "words"]

PART = "part"
"""The column that says train, val, test or none (0 to 3) of each example: one number, or one for each split."""
WORDS = ("train", "val", "test", "none")
NONE = len(WORDS) - 1
SPLIT = "split"

SPELLINGS = {"training": "train", "valid": "val", "validation": "val", "dev": "val", "testing": "test"}
KINDS: dict[str, Kind] = {"mask": "mask", "idx": "ids", "index": "ids", "indices": "ids", "ids": "ids"}
ENDINGS = {*KINDS, "masks", "id", "node", "nodes", "edge", "edges", "graph", "graphs", "pos", "neg", "set", "split"}
"""Endings of names that begin with a part and must mean a split, whether or not they are understood."""


def role_of(name: str) -> tuple[Kind, int] | None:
    """Return how an attribute of that name divides examples and which part it names, or nothing.

    A name that can only mean a split, but is none of the known ones, is an error: it must not be overlooked.
    """
    if name.lower() == SPLIT:
        return "words", NONE
    first, _, rest = name.lower().partition("_")
    word = SPELLINGS.get(first, first)
    if word not in WORDS[:NONE] or not rest:
        return None
    if rest in KINDS:
        return KINDS[rest], WORDS.index(word)
    if ENDINGS & {*rest.split("_")}:
        raise InvalidGraphError(
            f"'{name}' looks like a part of a split, but is not read as one: masks are called train_mask, val_mask and "
            "test_mask, lists of nodes train_idx, val_idx and test_idx; rename or remove it"
        )
    return None
