"""Category stage: index, rank by centrality, choose milestones, assign articles to milestones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.wikipedia.centrality import LOG_REGISTERS, harmonic
from graphtrial.wikipedia.dumps.parquet import engine, library, quoted, save
from graphtrial.wikipedia.milestones import nearest_milestones
from graphtrial.wikipedia.stages import StageCache, StageResult

EXCLUDED = ("wiki", "categories", "main topic classifications", "template", "navigational box")
"""Lower-case substrings of the names of maintenance categories, which are never milestones."""
PRUNED = (
    *("msx", "x86 operating systems", "ship registration"),
    *("browsers", "cloud applications", "cloud computing providers"),
)
"""Lower-case substrings of the names of categories that are pruned from the hierarchy, as for Wiki-CS."""


@dataclass(frozen=True)
class CategoryRules:
    """Options of ranking, choosing and pruning categories; defaults as for Wiki-CS."""

    milestones: int = 10_000
    excluded: Sequence[str] = EXCLUDED
    pruned: Sequence[str] = PRUNED
    centrality: str = "auto"
    log_registers: int = LOG_REGISTERS


def categories(
    stages: StageCache, mentions: Sequence[StageResult], rules: CategoryRules, memory_gb: float
) -> StageResult:
    """Build `categories.parquet`, `members.parquet` (page, milestone) and the readable `ranked-categories.tsv`."""
    files = [result.folder / "mentions.parquet" for result in mentions]
    return stages.stage(
        "categories", asdict(rules), mentions, lambda folder: make_categories(files, folder, rules, memory_gb)
    )


def make_categories(files: Sequence[Path], folder: Path, rules: CategoryRules, memory_gb: float) -> dict[str, Any]:
    """Build the stage from Parquet files of mentions; return the report."""
    with engine(folder, memory_gb) as sql:
        _number(sql, files)
        names = [row[0] for row in sql.execute("SELECT name FROM category ORDER BY id").fetchall()]
        start, children = _children(sql, len(names))
        lower = [name.lower() for name in names]
        excluded, pruned = _containing(lower, rules.excluded), _containing(lower, rules.pruned)
        scores = harmonic(start, children, rules.centrality, rules.log_registers)
        scores[excluded] = -np.inf
        rank = np.empty(len(names), np.int64)
        rank[np.lexsort((np.arange(len(names)), -scores))] = np.arange(len(names))
        milestone = (rank < rules.milestones) & ~excluded
        own, above = nearest_milestones(start, children, milestone, pruned)
        columns = {"id": np.arange(len(names)), "name": names, "score": scores, "rank": rank}
        columns |= {"milestone": milestone, "pruned": pruned, "nearest": own, "above": above}
        library("pyarrow.parquet").write_table(library("pyarrow").table(columns), folder / "categories.parquet")
        sql.execute(f"CREATE TABLE ranked AS SELECT * FROM {quoted(folder / 'categories.parquet')}")
        links = save(
            sql,
            "SELECT DISTINCT m.page, r.nearest AS category FROM mention m JOIN category c ON c.name = m.category "
            "JOIN ranked r ON r.id = c.id WHERE m.page IS NOT NULL AND r.nearest >= 0 ORDER BY m.page, r.nearest",
            folder / "members.parquet",
        )
        _write_ranking(sql, folder)
    return {
        "categories": len(names),
        "subcategory links": len(children),
        "milestones": int(milestone.sum()),
        "excluded": int(excluded.sum()),
        "pruned": int(pruned.sum()),
        "without milestone": int((own < 0).sum()),
        "memberships": links,
    }


def _number(sql: Any, files: Sequence[Path]) -> None:
    """Create the view `mention` and the table `category` (id, name), ids in order of first mention."""
    parts = [
        f"SELECT page, child, category, ({number} * (1::BIGINT << 48) + 2 * file_row_number) AS place "
        f"FROM read_parquet({quoted(path)}, file_row_number = true)"
        for number, path in enumerate(files)
    ]
    sql.execute(f"CREATE VIEW mention AS {' UNION ALL '.join(parts)}")
    sql.execute(
        "CREATE TABLE category AS SELECT row_number() OVER (ORDER BY min(place)) - 1 AS id, name FROM ("
        "SELECT child AS name, place FROM mention WHERE child IS NOT NULL UNION ALL "
        "SELECT category, place + 1 FROM mention WHERE category IS NOT NULL) GROUP BY name"
    )


def _children(sql: Any, count: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the hierarchy in CSR form: pointers, and children sorted by id."""
    pairs = sql.execute(
        "SELECT DISTINCT p.id AS parent, c.id AS child FROM mention m JOIN category p ON p.name = m.category "
        "JOIN category c ON c.name = m.child WHERE m.child <> m.category ORDER BY parent, child"
    ).fetchnumpy()
    parent = np.asarray(pairs["parent"], np.int64)
    start = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(parent, minlength=count), out=start[1:])
    return start, np.asarray(pairs["child"], np.int64)


def _containing(names: Sequence[str], parts: Sequence[str]) -> npt.NDArray[np.bool_]:
    lower = [part.lower() for part in parts]
    return np.array([any(part in name for part in lower) for name in names], bool)


def _write_ranking(sql: Any, folder: Path) -> None:
    """Write the milestones with score, number of articles and parent milestone, sorted by rank."""
    sql.execute(
        "COPY (SELECT r.name, r.score, coalesce(pages, 0) AS pages, a.name AS above FROM ranked r "
        f"LEFT JOIN (SELECT category, count(*) AS pages FROM {quoted(folder / 'members.parquet')} GROUP BY category) m "
        "ON m.category = r.id LEFT JOIN ranked a ON a.id = r.above WHERE r.milestone ORDER BY r.rank) "
        f"TO {quoted(folder / 'ranked-categories.tsv')} (FORMAT csv, DELIMITER '\t', HEADER)"
    )
