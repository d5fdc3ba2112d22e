"""Splits that the data themselves name: masks, lists of ids and words become one column, `part`.

`part_names` says which attributes those are. A mask is never a feature. What is in no mask is in no part; what is in
two, and a split that is named twice or in part only, is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import InvalidGraphError
from graphtrial.graphs.column import Column, Level
from graphtrial.graphs.mask_names import NONE, SPELLINGS, WORDS, Kind, role_of

Array = npt.NDArray[Any]
MEANING = "train, val, test or none"


def part_column(given: Mapping[str, Sequence[Any]], nodes: Array, edges: Array, target: Level | None) -> Column | None:
    """Return the column `part` of some graphs, or nothing where their attributes name no split.

    `given` has the attributes with a role, each with one value per graph (`None` where a graph lacks it); `nodes` and
    `edges` are the sizes of the graphs, and `target` is the level of `y`, which decides where sizes leave it open.
    """
    if not given:
        return None
    roles = {name: role for name in given if (role := role_of(name)) is not None}
    parts = [part for _, part in roles.values()]
    if len({kind for kind, _ in roles.values()}) > 1 or len({*parts}) < len(parts):
        raise InvalidGraphError(f"the split is named twice, by {_listed(sorted(given))}; keep one way to name it")
    for name, values in given.items():
        if any(value is None for value in values):
            raise InvalidGraphError(f"'{name}' is in some graphs but not in all of them")
    sizes: dict[Level, Array] = {"node": nodes, "edge": edges, "graph": np.ones_like(nodes)}
    if parts == [NONE]:
        ((name, values),) = given.items()
        return _from_words(name, values, sizes, target)
    _check_complete({WORDS[part]: name for name, (_, part) in roles.items()})
    masks = {roles[name][1]: _masks(name, values, nodes, roles[name][0]) for name, values in given.items()}
    names = {part: name for name, (_, part) in roles.items()}
    level = _level(names[0], [len(mask) if mask.ndim else -1 for mask in masks[0]], sizes, target)
    tables = [_table(names[part], masks[part], sizes[level]) for part in range(NONE)]
    return _from_tables(tables, [names[part] for part in range(NONE)], level)


def check_value(name: str, value: Any) -> None:
    """Refuse the value of one graph that names no part, whatever the others are."""
    role = role_of(name)
    if role is not None and role[0] == "mask":
        _as_mask(name, value)
    elif role is not None and role[0] == "words" and isinstance(value, str):
        _number(name, value)
    elif role is not None and role[0] == "words" and not isinstance(value, Mapping):
        _words(name, value)


def column_of_ids(split: Mapping[str, Any], rows: int, level: Level) -> Column:
    """Return the column `part` for lists of ids by part, such as the `get_idx_split()` of OGB returns them."""
    names = {SPELLINGS.get(str(name).lower(), str(name).lower()): name for name in split}
    if unknown := [name for name in names if name not in WORDS[:NONE]]:
        raise InvalidGraphError(f"a split has the parts train, val and test, but here is '{unknown[0]}'")
    if len(names) < len(split):
        raise InvalidGraphError(f"the split names a part twice: {_listed(map(str, split))}")
    _check_complete({word: str(name) for word, name in names.items()})
    tables = [
        _mask_of_ids(str(names[word]), _array(str(names[word]), split[names[word]]), rows) for word in WORDS[:NONE]
    ]
    return _from_tables(tables, [str(names[word]) for word in WORDS[:NONE]], level)


def masks_of(values: Array) -> dict[str, Array]:
    """Return rows of the column `part` as the three masks that PyG has."""
    return {f"{word}_mask": np.asarray(values == number) for number, word in enumerate(WORDS[:NONE])}


def words_of(values: Array) -> list[Any]:
    """Return rows of the column `part` as words; a list of words where there are several splits."""
    words: list[Any] = np.array(WORDS, object)[np.asarray(values)].tolist()
    return words


def _check_complete(there: Mapping[str, str]) -> None:
    missing = [word for word in WORDS[:NONE] if word not in there]
    if missing:
        raise InvalidGraphError(
            f"{_listed(there.values())} names a part of a split, but nothing names {' and '.join(missing)}: "
            "all three are needed; add what is missing, or remove the others to have a split drawn"
        )


def _from_words(name: str, values: Sequence[Any], sizes: Mapping[Level, Array], target: Level | None) -> Column:
    level: Level = "graph"
    if isinstance(values[0], Mapping):
        if len(values) != 1:
            raise InvalidGraphError(f"'{name}' lists ids by part, which is for a single graph only")
        return column_of_ids(values[0], int(sizes["node"][0]), "node")
    if not all(isinstance(value, str) for value in values):
        tables = [_words(name, value) for value in values]
        lengths = [len(table) for table in tables]
        level = _level(name, lengths, sizes, target, several=len(values) > 1 and len({*lengths}) == 1)
        rows = [table if level != "graph" or len(table) == 1 else table.reshape(1, -1) for table in tables]
        part = _joined(name, rows)
    else:
        part = np.array([_number(name, value) for value in values], np.uint8)
    return _checked(part, level, lambda number: f"no {level} has the word '{WORDS[number]}' in '{name}'")


def _words(name: str, value: Any) -> Array:
    try:
        table = np.array(value.tolist() if hasattr(value, "tolist") else value, object)
    except ValueError:
        raise InvalidGraphError(f"the rows of '{name}' differ in length") from None
    if table.ndim not in (1, 2):
        raise InvalidGraphError(f"'{name}' must be one of {', '.join(WORDS)}, or a list of these, not {_short(value)}")
    numbers = [_number(name, word) for word in table.reshape(-1)]
    return np.array(numbers, np.uint8).reshape(table.shape)


def _number(name: str, word: Any) -> int:
    text = word.strip().lower() if isinstance(word, str) else ""
    text = SPELLINGS.get(text, text)
    if text not in WORDS:
        raise InvalidGraphError(f"'{name}' must be one of {', '.join(WORDS)}, not {_short(word)}")
    return WORDS.index(text)


def _masks(name: str, values: Sequence[Any], nodes: Array, kind: Kind) -> list[Array]:
    if kind == "mask":
        return [_as_mask(name, value) for value in values]
    if len(values) > 1:
        raise InvalidGraphError(f"'{name}' lists nodes by number, for a single graph only; use masks or 'split'")
    return [_mask_of_ids(name, _array(name, values[0]), int(nodes[0]))]


def _as_mask(name: str, value: Any) -> Array:
    array = _array(name, value)
    if array.dtype.kind not in "biuf" or (array.dtype.kind != "b" and not np.isin(array, (0, 1)).all()):
        raise InvalidGraphError(f"'{name}' must hold true and false (or 1 and 0); lists of ids are called *_idx")
    return array.astype(bool)


def _mask_of_ids(name: str, ids: Array, rows: int) -> Array:
    if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iu"):
        raise InvalidGraphError(f"'{name}' must be a flat list of integers, not {ids.dtype} {list(ids.shape)}")
    if ids.size and (ids.min() < 0 or ids.max() >= rows):
        raise InvalidGraphError(f"'{name}' holds {ids.min()} to {ids.max()}, but there are 0 to {rows - 1}")
    mask = np.zeros(rows, bool)
    mask[ids.astype(np.int64)] = True
    if int(mask.sum()) != len(ids):
        raise InvalidGraphError(f"'{name}' holds a number twice")
    return mask


def _level(
    name: str, lengths: list[int], sizes: Mapping[Level, Array], target: Level | None, *, several: bool = False
) -> Level:
    """Return what rows of these lengths are about: the level of the target where it fits, else nodes, edges, graphs."""
    found = np.array(lengths)
    fitting: list[Level] = [level for level in ("node", "edge") if np.array_equal(found, sizes[level])]
    if several or np.isin(found, (-1, 1)).all():
        fitting.append("graph")
    if not fitting:
        wrong = int(np.argmax((found != sizes["node"]) & (found != sizes["edge"])))
        raise InvalidGraphError(
            f"'{name}' has {max(lengths[wrong], 0)} entries in graph {wrong}, which has {sizes['node'][wrong]} nodes "
            f"and {sizes['edge'][wrong]} edges"
        )
    return target if target in fitting else fitting[0]


def _table(name: str, masks: list[Array], sizes: Array) -> Array:
    rows = [mask.reshape(1) if not mask.ndim else mask for mask in masks]
    for number, (mask, size) in enumerate(zip(rows, sizes, strict=True)):
        if len(mask) != size:
            raise InvalidGraphError(f"'{name}' has {len(mask)} entries in graph {number}, the other masks have {size}")
    table = _joined(name, rows)
    if table.ndim > 2 or not table.size:
        raise InvalidGraphError(f"'{name}' has shape {list(table.shape)}; masks are [rows] or [rows, splits]")
    return table


def _from_tables(tables: list[Array], names: list[str], level: Level) -> Column:
    """Return the column of three masks; one that is the same in all splits may be flat."""
    widths = {table.shape[1] for table in tables if table.ndim == 2}
    if len(widths) > 1:
        raise InvalidGraphError(
            f"{_listed(names)} have different numbers of splits: {_listed(map(str, sorted(widths)))}"
        )
    flat = not widths
    count = 1 if flat else widths.pop()
    stacked = np.stack([np.broadcast_to(table.reshape(len(table), -1), (len(table), count)) for table in tables])
    twice = np.argwhere(stacked.sum(axis=0) > 1)
    if len(twice):
        row, split = twice[0].tolist()
        both = [name for name, table in zip(names, stacked, strict=True) if table[row, split]]
        where = f" in split {split}" if count > 1 else ""
        raise InvalidGraphError(
            f"{len(twice)} of {stacked[0].size} entries are in two parts: {level} {row} is in {_listed(both)}{where}"
        )
    part = np.where(stacked.any(axis=0), stacked.argmax(axis=0), NONE).astype(np.uint8)
    return _checked(part[:, 0] if flat else part, level, lambda number: f"'{names[number]}' names no {level}")


def _checked(part: Array, level: Level, complaint: Callable[[int], str]) -> Column:
    """Return the column of these parts, none of which may be empty in any split."""
    for split, column in enumerate(part.reshape(len(part), -1).T):
        for number in range(NONE):
            if not (column == number).any():
                raise InvalidGraphError(f"{complaint(number)} in split {split}: each part needs one at least")
    return Column(part, level, MEANING, types=len(WORDS))


def _array(name: str, value: Any) -> Array:
    try:
        return np.asarray(value.detach().cpu() if hasattr(value, "detach") else value)
    except (ValueError, TypeError, RuntimeError):
        raise InvalidGraphError(f"'{name}' is no table of numbers") from None


def _joined(name: str, rows: list[Array]) -> Array:
    try:
        return np.concatenate(rows)
    except ValueError:
        raise InvalidGraphError(f"'{name}' has different shapes in different graphs") from None


def _listed(names: Any) -> str:
    return " and ".join(f"'{name}'" for name in names)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
