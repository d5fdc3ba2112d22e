"""TU archives of datasets outside the catalog."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path


def write_paths(mirror: Path, name: str, folder: str | None = None, others: Mapping[str, bytes] | None = None) -> Path:
    """Write `TU/NAME.zip` below a mirror and return its folder: thirty paths of three nodes with a regression target.

    `folder` is the prefix of the members, by default `NAME/`; `others` are additional members by path.
    """
    target = mirror / "TU"
    target.mkdir(parents=True)
    tables = {
        "A": "".join(f"{3 * n + a}, {3 * n + b}\n" for n in range(30) for a, b in ((1, 2), (2, 3))),
        "graph_indicator": "".join(f"{n}\n" * 3 for n in range(1, 31)),
        "graph_attributes": "".join(f"{n}.5\n" for n in range(30)),
    }
    with zipfile.ZipFile(target / f"{name}.zip", "w") as archive:
        for path, content in (others or {}).items():
            archive.writestr(path, content)
        for table, text in tables.items():
            archive.writestr(f"{folder or f'{name}/'}{name}_{table}.txt", text)
    return target
