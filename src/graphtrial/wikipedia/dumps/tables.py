"""MediaWiki tables, old and new schema, converted to Parquet files of the needed columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import CorruptFileError
from graphtrial.core.progress import progress
from graphtrial.wikipedia.dumps.parquet import ParquetWriter, library
from graphtrial.wikipedia.dumps.sql_rows import NULL
from graphtrial.wikipedia.dumps.sqldump import Counts, Wanted, read_table

ARTICLE, CATEGORY = 0, 14
Batch = dict[str, Any]


@dataclass(frozen=True)
class Table:
    """Columns of a table to read, row filter `keep`, and our column names.

    `names` maps our names to MediaWiki's; of `alternatives` the first that the dump has is read too: titles until
    2023 (pagelinks) and 2025 (categorylinks), ids of the table linktarget since then.
    """

    names: dict[str, str]
    keep: Callable[[Batch], npt.NDArray[np.bool_]]
    text: tuple[str, ...] = ()
    alternatives: tuple[dict[str, str], ...] = ()
    extra: tuple[str, ...] = ()
    """Optional MediaWiki columns that only the row filter uses."""


def _namespace(column: str, *wanted: int) -> Callable[[Batch], npt.NDArray[np.bool_]]:
    return lambda batch: np.isin(batch[column], wanted)


def _redirects(batch: Batch) -> npt.NDArray[np.bool_]:
    mask: npt.NDArray[np.bool_] = batch["rd_namespace"] == ARTICLE
    return mask & _is(batch["rd_interwiki"], "") if "rd_interwiki" in batch else mask


def _pagelinks(batch: Batch) -> npt.NDArray[np.bool_]:
    mask = np.ones(len(batch["pl_from"]), bool)
    for column in ("pl_from_namespace", "pl_namespace"):
        if column in batch:
            mask &= batch[column] == ARTICLE
    return mask & (batch["pl_target_id"] != NULL) if "pl_target_id" in batch else mask


def _categorylinks(batch: Batch) -> npt.NDArray[np.bool_]:
    mask = np.ones(len(batch["cl_from"]), bool)
    if "cl_type" in batch:
        mask &= ~_is(batch["cl_type"], "file")
    return mask & (batch["cl_target_id"] != NULL) if "cl_target_id" in batch else mask


def _is(column: Any, text: str) -> npt.NDArray[np.bool_]:
    return np.asarray(library("pyarrow.compute").equal(column, text))


TABLES = {
    "page": Table(
        {"id": "page_id", "namespace": "page_namespace", "title": "page_title", "redirect": "page_is_redirect"},
        _namespace("page_namespace", ARTICLE, CATEGORY),
        ("page_title",),
    ),
    "redirect": Table(
        {"source": "rd_from", "namespace": "rd_namespace", "title": "rd_title"},
        _redirects,
        ("rd_title", "rd_interwiki"),
        extra=("rd_interwiki",),
    ),
    "linktarget": Table(
        {"id": "lt_id", "namespace": "lt_namespace", "title": "lt_title"},
        _namespace("lt_namespace", ARTICLE, CATEGORY),
        ("lt_title",),
    ),
    "pagelinks": Table(
        {"source": "pl_from"},
        _pagelinks,
        ("pl_title",),
        ({"title": "pl_title", "namespace": "pl_namespace"}, {"target": "pl_target_id"}),
        ("pl_from_namespace",),
    ),
    "categorylinks": Table(
        {"source": "cl_from"},
        _categorylinks,
        ("cl_to", "cl_type"),
        ({"title": "cl_to"}, {"target": "cl_target_id"}),
        ("cl_type",),
    ),
}
_MAY_BE_NULL = ("rd_interwiki", "pl_target_id", "cl_target_id")


def read_dump(path: Path, table: str, folder: Path, *, allow_truncated: bool = False) -> dict[str, Any]:
    """Write the filtered rows of a table to `table.parquet` in a folder; return the report."""
    spec, counts, selected = TABLES[table], Counts(), 0
    chosen: dict[str, str] = {}

    def choose(columns: list[str]) -> list[Wanted]:
        given = next((names for names in spec.alternatives if set(names.values()) <= set(columns)), None)
        if given is None and spec.alternatives:
            raise CorruptFileError(f"{path.name} has a schema of {table} that is not known: {', '.join(columns)}")
        chosen.clear()
        chosen.update({**spec.names, **(given or {})})
        names = [*chosen.values(), *(name for name in spec.extra if name in columns)]
        return [
            Wanted(name, "text" if name in spec.text else "int", name in _MAY_BE_NULL) for name in dict.fromkeys(names)
        ]

    with (
        progress(f"reading {path.name}", path.stat().st_size) as advance,
        ParquetWriter(folder / f"{table}.parquet") as writer,
    ):
        for batch in read_table(path, table, choose, counts, advance, allow_truncated=allow_truncated):
            mask = spec.keep(batch)
            selected += int(mask.sum())
            writer.add({ours: _filtered(batch[theirs], mask) for ours, theirs in chosen.items()})
        if not chosen:
            raise CorruptFileError(
                f"{path.name} has no rows of the table {table}; it has {', '.join(counts.seen) or 'no table'}"
            )
    return {
        "file": path.name,
        "rows": counts.rows,
        "kept": selected,
        "broken": counts.broken,
        "repaired": counts.repaired,
        "truncated": counts.truncated,
        "columns": sorted(chosen),
    }


def _filtered(values: Any, mask: npt.NDArray[np.bool_]) -> Any:
    if isinstance(values, np.ndarray):
        return values[mask]
    return values.filter(library("pyarrow").array(mask))
