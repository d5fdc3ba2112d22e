"""The smoke test of the wheel: what it finds missing, and which versions it takes for the lowest."""

from __future__ import annotations

import zipfile
from pathlib import Path

from tools.smoke import lowest_versions, missing_files


def test_missing_and_changed_files_are_listed(tmp_path: Path) -> None:
    package = tmp_path / "src" / "graphtrial"
    for name in ("index.json", "shipped/store.xz", "nn/__init__.py", "changed.py", "__pycache__/x.pyc"):
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(name)
    wheel = tmp_path / "x.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("graphtrial/index.json", "index.json")
        archive.writestr("graphtrial/nn/__init__.py", "nn/__init__.py")
        archive.writestr("graphtrial/changed.py", "of an earlier build")
    assert missing_files(wheel, tmp_path / "src") == ["graphtrial/changed.py", "graphtrial/shipped/store.xz"]


def test_lowest_versions_are_the_declared_ones() -> None:
    lines = ["torch>=2.6", "numpy>=1.26", "markdown-it-py>=3.0", "tomli>=2.0; python_version < '3.11'"]
    assert lowest_versions(lines) == ["numpy==1.26", "markdown-it-py==3.0"]
