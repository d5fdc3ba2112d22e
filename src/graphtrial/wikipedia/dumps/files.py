"""Find the dump files of a folder by Wikimedia's naming scheme."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from graphtrial.core.errors import GraphTrialError

TABLES = ("page", "redirect", "pagelinks", "categorylinks", "linktarget")
_SQL = re.compile(rf"(?:^|.*[-_.])({'|'.join(TABLES)})\.sql(?:\.gz|\.bz2)?")
_XML = re.compile(r".*pages-articles(?P<multi>-multistream)?(?P<part>\d*)\.xml(?:-p\d+p\d+)?(?:[-\w]*)?(?:\.gz|\.bz2)?")


@dataclass(frozen=True)
class Dumps:
    """Dumps of one wiki: XML files in the order of their parts, SQL files by table."""

    articles: tuple[Path, ...]
    tables: dict[str, Path] = field(default_factory=dict)


def find_dumps(folder: Path) -> Dumps:
    """Return the dumps in a folder; the multistream edition of an XML dump is preferred."""
    if not folder.is_dir():
        raise GraphTrialError(
            f"there is no folder {folder}; --dumps is a folder of files as dumps.wikimedia.org has them"
        )
    articles: dict[bool, list[tuple[int, Path]]] = {True: [], False: []}
    tables: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        xml, sql = _XML.fullmatch(path.name), _SQL.fullmatch(path.name)
        if xml and path.is_file():
            articles[bool(xml["multi"])].append((int(xml["part"] or 0), path))
        elif sql and path.is_file():
            if sql[1] in tables:
                raise GraphTrialError(
                    f"{folder} has two dumps of {sql[1]}: {tables[sql[1]].name} and {path.name}; keep one wiki and day"
                )
            tables[sql[1]] = path
    chosen = articles[True] or articles[False]
    if not chosen:
        raise GraphTrialError(f"{folder} has no dump of articles such as enwiki-20190820-pages-articles.xml.bz2")
    return Dumps(tuple(path for _, path in sorted(chosen, key=lambda pair: (pair[0], pair[1].name))), tables)
