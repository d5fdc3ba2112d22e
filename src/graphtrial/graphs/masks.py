"""Train, validation and test masks, index lists and part names that come with the data -> the column `part`.

`mask_names` lists the attribute names. A mask is never a feature. Examples in no mask are in part `none`; overlapping
masks, and a split that is incomplete or given twice, are errors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import InvalidGraphError
from graphtrial.graphs.column import Column, Level
from graphtrial.graphs.mask_names import NONE, PARTS, SPELLINGS, Kind, parse_mask_name

Array = npt.NDArray[Any]
MEANING = "train, val, test or none"


def part_column(
    attributes: Mapping[str, Sequence[Any]],
    nodes: Array,
    edges: Array,
    target: Level | None,
    pairs: Array | None = None,
) -> Column | None:
    """Return the column `part` of some graphs, or None where they have no split attributes.

    attributes: split attributes by name, each with one value per graph (None where a graph lacks it). nodes, edges
    [graphs]: sizes of the graphs, and `pairs` their numbers of pairs if these are split. target: level of `y`, which
    decides where lengths match several levels.
    """
    if not attributes:
        return None
    kinds = {name: parsed for name in attributes if (parsed := parse_mask_name(name)) is not None}
    parts = [part for _, part in kinds.values()]
    if len({kind for kind, _ in kinds.values()}) > 1 or len({*parts}) < len(parts):
        raise InvalidGraphError(f"the split is given twice, by {_listed(sorted(attributes))}; keep one")
    for name, values in attributes.items():
        if any(value is None for value in values):
            raise InvalidGraphError(f"'{name}' is in some graphs but not in all of them")
    sizes: dict[Level, Array] = {"node": nodes, "edge": edges, "graph": np.ones_like(nodes)}
    sizes |= {} if pairs is None else {"pair": pairs}
    if parts == [NONE]:
        ((name, values),) = attributes.items()
        return _from_names(name, values, sizes, target)
    _check_complete({PARTS[part]: name for name, (_, part) in kinds.items()})
    masks = {kinds[name][1]: _masks(name, values, nodes, kinds[name][0]) for name, values in attributes.items()}
    names = {part: name for name, (_, part) in kinds.items()}
    level = _level(names[0], [len(mask) if mask.ndim else -1 for mask in masks[0]], sizes, target)
    concatenated = [_concatenated_mask(names[part], masks[part], sizes[level]) for part in range(NONE)]
    return _from_masks(concatenated, [names[part] for part in range(NONE)], level)


def check_mask_value(name: str, value: Any) -> None:
    """Validate the value of one split attribute of one graph."""
    parsed = parse_mask_name(name)
    if parsed is not None and parsed[0] == "mask":
        _as_mask(name, value)
    elif parsed is not None and parsed[0] == "name" and isinstance(value, str):
        _part_index(name, value)
    elif parsed is not None and parsed[0] == "name" and not isinstance(value, Mapping):
        _part_indices(name, value)


def part_from_ids(split: Mapping[str, Any], rows: int, level: Level) -> Column:
    """Return the column `part` of index lists by part name, such as OGB's `get_idx_split()` returns."""
    names = {SPELLINGS.get(str(name).lower(), str(name).lower()): name for name in split}
    if unknown := [name for name in names if name not in PARTS[:NONE]]:
        raise InvalidGraphError(f"'{unknown[0]}' is not a part of a split; use train, val and test")
    if len(names) < len(split):
        raise InvalidGraphError(f"the split has a part twice: {_listed(map(str, split))}")
    _check_complete({part: str(name) for part, name in names.items()})
    masks = [
        _index_to_mask(str(names[part]), _array(str(names[part]), split[names[part]]), rows) for part in PARTS[:NONE]
    ]
    return _from_masks(masks, [str(names[part]) for part in PARTS[:NONE]], level)


def part_to_masks(values: Array) -> dict[str, Array]:
    """Convert rows of the column `part` to PyG's `train_mask`, `val_mask` and `test_mask`."""
    return {f"{part}_mask": np.asarray(values == index) for index, part in enumerate(PARTS[:NONE])}


def part_to_names(values: Array) -> list[Any]:
    """Convert rows of the column `part` to part names; a list of names per row where there are several splits."""
    names: list[Any] = np.array(PARTS, object)[np.asarray(values)].tolist()
    return names


def _check_complete(names: Mapping[str, str]) -> None:
    missing = [part for part in PARTS[:NONE] if part not in names]
    if missing:
        raise InvalidGraphError(
            f"the split has {_listed(names.values())}, but no {' and no '.join(missing)}: all three parts are needed; "
            "add what is missing, or remove the others to have a split drawn"
        )


def _from_names(name: str, values: Sequence[Any], sizes: Mapping[Level, Array], target: Level | None) -> Column:
    level: Level = "graph"
    if isinstance(values[0], Mapping):
        if len(values) != 1:
            raise InvalidGraphError(f"'{name}' has an index list per part, which is for a single graph only")
        return part_from_ids(values[0], int(sizes["node"][0]), "node")
    if not all(isinstance(value, str) for value in values):
        indices = [_part_indices(name, value) for value in values]
        lengths = [len(index) for index in indices]
        level = _level(name, lengths, sizes, target, several=len(values) > 1 and len({*lengths}) == 1)
        rows = [index if level != "graph" or len(index) == 1 else index.reshape(1, -1) for index in indices]
        part = _concatenated(name, rows)
    else:
        part = np.array([_part_index(name, value) for value in values], np.uint8)
    return _checked(part, level, lambda index: f"no {level} has '{PARTS[index]}' in '{name}'")


def _part_indices(name: str, value: Any) -> Array:
    try:
        table = np.array(value.tolist() if hasattr(value, "tolist") else value, object)
    except ValueError:
        raise InvalidGraphError(f"the rows of '{name}' differ in length") from None
    if table.ndim not in (1, 2):
        raise InvalidGraphError(f"'{name}' must be one of {', '.join(PARTS)}, or a list of these, not {_short(value)}")
    indices = [_part_index(name, part) for part in table.reshape(-1)]
    return np.array(indices, np.uint8).reshape(table.shape)


def _part_index(name: str, part: Any) -> int:
    text = part.strip().lower() if isinstance(part, str) else ""
    text = SPELLINGS.get(text, text)
    if text not in PARTS:
        raise InvalidGraphError(f"'{name}' must be one of {', '.join(PARTS)}, not {_short(part)}")
    return PARTS.index(text)


def _masks(name: str, values: Sequence[Any], nodes: Array, kind: Kind) -> list[Array]:
    if kind == "mask":
        return [_as_mask(name, value) for value in values]
    if len(values) > 1:
        raise InvalidGraphError(f"'{name}' lists node indices, for a single graph only; use masks or 'split'")
    return [_index_to_mask(name, _array(name, values[0]), int(nodes[0]))]


def _as_mask(name: str, value: Any) -> Array:
    array = _array(name, value)
    if array.dtype.kind not in "biuf" or (array.dtype.kind != "b" and not np.isin(array, (0, 1)).all()):
        raise InvalidGraphError(f"'{name}' must be boolean (or 0 and 1); index lists are called *_idx")
    return array.astype(bool)


def _index_to_mask(name: str, ids: Array, rows: int) -> Array:
    if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iu"):
        raise InvalidGraphError(f"'{name}' must be a flat list of integers, not {ids.dtype} {list(ids.shape)}")
    if ids.size and (ids.min() < 0 or ids.max() >= rows):
        raise InvalidGraphError(f"'{name}' has indices {ids.min()} to {ids.max()}, outside 0 to {rows - 1}")
    mask = np.zeros(rows, bool)
    mask[ids.astype(np.int64)] = True
    if int(mask.sum()) != len(ids):
        raise InvalidGraphError(f"'{name}' has a duplicate index")
    return mask


def _level(
    name: str, lengths: list[int], sizes: Mapping[Level, Array], target: Level | None, *, several: bool = False
) -> Level:
    """Infer the level from the lengths: the target's level if it matches, else node, edge or graph, in this order."""
    counts = np.array(lengths)
    matching: list[Level] = [level for level in sizes if level != "graph" and np.array_equal(counts, sizes[level])]
    if several or np.isin(counts, (-1, 1)).all():
        matching.append("graph")
    if not matching:
        wrong = int(np.argmax((counts != sizes["node"]) & (counts != sizes["edge"])))
        raise InvalidGraphError(
            f"'{name}' has {max(lengths[wrong], 0)} entries in graph {wrong}, which has {sizes['node'][wrong]} nodes "
            f"and {sizes['edge'][wrong]} edges"
        )
    return target if target in matching else matching[0]


def _concatenated_mask(name: str, masks: list[Array], sizes: Array) -> Array:
    rows = [mask.reshape(1) if not mask.ndim else mask for mask in masks]
    for graph, (mask, size) in enumerate(zip(rows, sizes, strict=True)):
        if len(mask) != size:
            raise InvalidGraphError(f"'{name}' has {len(mask)} entries in graph {graph}, the other masks have {size}")
    mask = _concatenated(name, rows)
    if mask.ndim > 2 or not mask.size:
        raise InvalidGraphError(f"'{name}' has shape {list(mask.shape)}; masks are [rows] or [rows, splits]")
    return mask


def _from_masks(masks: list[Array], names: list[str], level: Level) -> Column:
    """Return the column of the train, validation and test masks, [rows] or [rows, splits], broadcast to all splits."""
    widths = {mask.shape[1] for mask in masks if mask.ndim == 2}
    if len(widths) > 1:
        raise InvalidGraphError(
            f"{_listed(names)} have different numbers of splits: {_listed(map(str, sorted(widths)))}"
        )
    flat = not widths
    count = 1 if flat else widths.pop()
    stacked = np.stack([np.broadcast_to(mask.reshape(len(mask), -1), (len(mask), count)) for mask in masks])
    overlap = np.argwhere(stacked.sum(axis=0) > 1)
    if len(overlap):
        row, split = overlap[0].tolist()
        both = [name for name, mask in zip(names, stacked, strict=True) if mask[row, split]]
        where = f" in split {split}" if count > 1 else ""
        raise InvalidGraphError(
            f"{len(overlap)} of {stacked[0].size} entries are in two parts: {level} {row} is in {_listed(both)}{where}"
        )
    part = np.where(stacked.any(axis=0), stacked.argmax(axis=0), NONE).astype(np.uint8)
    return _checked(part[:, 0] if flat else part, level, lambda index: f"'{names[index]}' has no {level}")


def _checked(part: Array, level: Level, message: Callable[[int], str]) -> Column:
    """Return the column `part`; raise where train, val or test is empty in a split."""
    for split, column in enumerate(part.reshape(len(part), -1).T):
        for index in range(NONE):
            if not (column == index).any():
                raise InvalidGraphError(f"{message(index)} in split {split}: each part needs one at least")
    return Column(part, level, MEANING, types=len(PARTS))


def _array(name: str, value: Any) -> Array:
    try:
        return np.asarray(value.detach().cpu() if hasattr(value, "detach") else value)
    except (ValueError, TypeError, RuntimeError):
        raise InvalidGraphError(f"'{name}' is not an array of numbers") from None


def _concatenated(name: str, rows: list[Array]) -> Array:
    try:
        return np.concatenate(rows)
    except ValueError:
        raise InvalidGraphError(f"'{name}' has different shapes in different graphs") from None


def _listed(names: Any) -> str:
    return " and ".join(f"'{name}'" for name in names)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
