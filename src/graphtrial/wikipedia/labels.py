"""Classes of articles: each class is a union of milestones, and an article of two classes is of none."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.files import read_json
from graphtrial.datasets.generators.wikics import CLASSES
from graphtrial.wikipedia.dumps.parquet import engine, library, quoted, save
from graphtrial.wikipedia.dumps.tables import ARTICLE
from graphtrial.wikipedia.stages import StageCache, StageResult

Mapped = Mapping[str, list[str]]
_UNIONS = {
    "Operating systems": ["Operating systems", "Operating system technology"],
    "Computer security": [
        *("Computer security", "Computer network security", "Access control"),
        *("Data security", "Computational trust", "Computer security exploits"),
    ],
    "Web technology": ["Web technology", "Web software", "Web services"],
    "Programming language topics": [
        *("Programming language topics", "Programming language theory"),
        *("Programming language concepts", "Programming language classification"),
    ],
}
COMPSCI: Mapped = {name: _UNIONS.get(name, [name]) for name in CLASSES}
"""The classes of Wiki-CS, in the order of its numbers."""


def read_mapping(text: str) -> dict[str, list[str]]:
    """Read a JSON file that maps each class to its categories, or return the mapping called `compsci`."""
    if text == "compsci":
        return {name: list(parts) for name, parts in COMPSCI.items()}
    if not Path(text).is_file():
        raise GraphTrialError(
            f"there is no file {text}; --labels is a JSON file, or compsci for the classes of Wiki-CS"
        )
    mapping = read_json(Path(text))
    fine = isinstance(mapping, dict) and len(mapping) >= 2
    if not fine or not all(isinstance(v, list) and v and all(isinstance(n, str) for n in v) for v in mapping.values()):
        raise GraphTrialError(
            f'{text} must map two classes or more to lists of categories, such as {{"Optics": ["Light", "Lenses"]}}'
        )
    return {name: list(dict.fromkeys(part.replace("_", " ").strip() for part in mapping[name])) for name in mapping}


def labels(
    stages: StageCache, ranked: StageResult, articles: list[StageResult], mapping: Mapped, memory_gb: float
) -> StageResult:
    """Build `labels.parquet`: id, title, class, file and bz2 stream of every article of exactly one class."""
    files = [result.folder / "pages.parquet" for result in articles]
    return stages.stage(
        "labels",
        {"mapping": list(mapping.items())},  # a list, because the order of the classes defines their indices
        [ranked, *articles],
        lambda folder: _make(ranked.folder, files, folder, mapping, memory_gb),
    )


def _make(ranked: Path, files: list[Path], folder: Path, mapping: Mapped, memory_gb: float) -> dict[str, Any]:
    pairs = [(number, name) for number, names in enumerate(mapping.values()) for name in names]
    wanted = library("pyarrow").table({"class": [p[0] for p in pairs], "name": [p[1] for p in pairs]})
    parts = " UNION ALL ".join(f"SELECT *, {number} AS file FROM {quoted(path)}" for number, path in enumerate(files))
    with engine(folder, memory_gb) as sql:
        sql.register("given", wanted)
        sql.execute("CREATE TABLE wanted AS SELECT * FROM given")
        sql.execute(
            f"CREATE TABLE milestone AS SELECT id, name FROM {quoted(ranked / 'categories.parquet')} WHERE milestone"
        )
        missing = sql.execute("SELECT name FROM wanted WHERE name NOT IN (SELECT name FROM milestone) ORDER BY name")
        absent = [row[0] for row in missing.fetchall()]
        if len(absent) == len(pairs):
            raise GraphTrialError(
                f"none of the {len(pairs)} categories of the labels is a milestone; "
                f"{ranked / 'ranked-categories.tsv'} lists those there are"
            )
        sql.execute(
            "CREATE TABLE matched AS SELECT m.page, min(w.class) AS class, count(DISTINCT w.class) AS classes "
            f"FROM {quoted(ranked / 'members.parquet')} m JOIN milestone s ON s.id = m.category "
            "JOIN wanted w ON w.name = s.name GROUP BY m.page"
        )
        several = sql.execute("SELECT count(*) FROM matched WHERE classes > 1").fetchone()[0]
        sql.execute(f"CREATE VIEW page AS {parts}")
        repeated = sql.execute(
            f"SELECT id FROM page JOIN matched ON matched.page = id WHERE namespace = {ARTICLE} "
            "GROUP BY id HAVING count(*) > 1 ORDER BY id LIMIT 1"
        ).fetchone()
        if repeated:
            raise GraphTrialError(f"page {repeated[0]} is in the dumps twice; keep one dump of each part in the folder")
        save(
            sql,
            "SELECT p.id, p.title, m.class, p.file, p.stream FROM matched m JOIN page p ON p.id = m.page "
            f"WHERE m.classes = 1 AND p.namespace = {ARTICLE} AND p.redirect IS NULL ORDER BY p.id",
            folder / "labels.parquet",
        )
        sizes = dict(
            sql.execute(f"SELECT class, count(*) FROM {quoted(folder / 'labels.parquet')} GROUP BY class").fetchall()
        )
    return {
        "articles": sum(sizes.values()),
        "of several classes": several,
        "classes": {name: sizes.get(number, 0) for number, name in enumerate(mapping)},
        "categories that are no milestones": absent,
    }
