"""Category memberships from MediaWiki's categorylinks table, which includes categories added by templates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graphtrial.core.errors import GraphTrialError
from graphtrial.wikipedia.dumps.parquet import engine, quoted, save
from graphtrial.wikipedia.dumps.tables import ARTICLE, CATEGORY
from graphtrial.wikipedia.stages import StageCache, StageResult


def mentions_of_tables(stages: StageCache, tables: dict[str, StageResult], memory_gb: float) -> StageResult:
    """Build `mentions.parquet`, as the article stage does from wikitext, from page, categorylinks and linktarget."""
    missing = [name for name in ("page", "categorylinks") if name not in tables]
    if "categorylinks" in tables and "target" in tables["categorylinks"].report["columns"]:
        missing += [] if "linktarget" in tables else ["linktarget"]
    if missing:
        raise GraphTrialError(f"categories of the tables need the dump of {' and '.join(missing)}")
    used = [tables[name] for name in ("page", "categorylinks", "linktarget") if name in tables]
    files = {result.name.partition("-")[2]: result.folder for result in used}
    return stages.stage("mentions", {}, used, lambda folder: _make(files, folder, memory_gb))


def _make(folders: dict[str, Path], folder: Path, memory_gb: float) -> dict[str, Any]:
    page, links = (quoted(folders[name] / f"{name}.parquet") for name in ("page", "categorylinks"))
    rows = f"read_parquet({links}, file_row_number = true)"
    named = f"SELECT source, title, file_row_number AS place FROM {rows}"
    if "linktarget" in folders:
        target = quoted(folders["linktarget"] / "linktarget.parquet")
        named = (
            f"SELECT l.source, t.title, l.file_row_number AS place FROM {rows} l "
            f"JOIN {target} t ON t.id = l.target WHERE t.namespace = {CATEGORY}"
        )
    columns = (
        f"SELECT p.id AS page, NULL::VARCHAR AS child, replace(l.title, '_', ' ') AS category, l.place "
        f"FROM ({named}) l JOIN {page} p ON p.id = l.source WHERE p.namespace = {ARTICLE} UNION ALL "
        f"SELECT NULL, replace(p.title, '_', ' '), replace(l.title, '_', ' '), l.place "
        f"FROM ({named}) l JOIN {page} p ON p.id = l.source WHERE p.namespace = {CATEGORY} UNION ALL "
        f"SELECT NULL, replace(title, '_', ' '), NULL, (1::BIGINT << 46) + id FROM {page} "
        f"WHERE namespace = {CATEGORY}"
    )
    with engine(folder, memory_gb) as sql:
        count = save(sql, f"SELECT page, child, category FROM ({columns}) ORDER BY place", folder / "mentions.parquet")
    return {"mentions": count}
