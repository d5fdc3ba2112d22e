"""Importer of folders and zip files in the TU text format."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from graphtrial.core.errors import CorruptFileError
from graphtrial.core.temporary import temporary_folder
from graphtrial.datasets.tu.features import with_features
from graphtrial.datasets.tu.reader import TABLES, read_folder
from graphtrial.graphs import GraphSet
from graphtrial.io.archive import unpack_chosen
from graphtrial.io.sources import GIBIBYTE

TABLE = re.compile(rf"(.+)_({'|'.join(TABLES)})\.txt")


def read(paths: list[Path], features: str = "") -> GraphSet:
    """Read the tables of one set; `features` selects the node features, see `tu.features`."""
    if len(paths) == 1 and paths[0].suffix == ".zip":
        with temporary_folder() as temporary:
            folder = Path(temporary) / "tu"
            unpack_chosen(paths[0], _table, folder, member_bytes=4 * GIBIBYTE, total_bytes=8 * GIBIBYTE)
            return _read(folder, paths[0].name, features)
    return _read(paths[0].parent, "the folder", features)


def _table(member: str) -> str | None:
    path = PurePosixPath(member.replace("\\", "/"))
    return path.name if TABLE.fullmatch(path.name) and path.parts[0] != "__MACOSX" else None


def _read(folder: Path, subject: str, features: str) -> GraphSet:
    names = sorted({match[1] for file in folder.iterdir() if (match := TABLE.fullmatch(file.name))})
    if len(names) != 1:
        contents = f"the sets {', '.join(names)}" if names else "no NAME_A.txt and NAME_graph_indicator.txt"
        raise CorruptFileError(f"{subject} must hold one set in the TU format; it holds {contents}")
    return with_features(read_folder(folder, names[0]), features)
