"""Layout: short files, small folders, tests that mirror the source tree."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src" / "graphtrial"
ALIKE = {"datasets", "nn/conv", "nn/models", "encodings", "kernels", "metrics", "ops", "ops/kernels"}
"""Folders of registered components or catalog files, of any size."""
MODULES_SIDE_BY_SIDE = 16
LINES = 250
LONG: dict[str, int] = {}
"""Files that are longer, and how long at most; to be emptied."""
ACROSS = {"benchmarks", "contracts", "faults", "fuzz", "helpers", "tools"}
"""Folders of tests that go through the whole package, or test what is not part of it."""


def test_folders_have_few_modules() -> None:
    folders = {file.parent for file in SOURCE.rglob("*.py")}
    sizes = {
        folder.relative_to(SOURCE).as_posix(): len([file for file in folder.glob("*.py") if file.stem != "__init__"])
        for folder in folders
    }
    assert {name: size for name, size in sizes.items() if size > MODULES_SIDE_BY_SIDE and name not in ALIKE} == {}


def test_files_have_at_most_250_lines() -> None:
    lengths = {
        file.relative_to(SOURCE).as_posix(): len(file.read_text(encoding="utf-8").splitlines())
        for file in SOURCE.rglob("*.py")
    }
    assert {name: lines for name, lines in lengths.items() if lines > LONG.get(name, LINES)} == {}


def test_tests_mirror_the_source_tree() -> None:
    """`tests/a/b/test_x.py` tests `src/graphtrial/a/b/x.py`, or something of the folder `a/b`."""
    files = [file.relative_to(TESTS) for file in sorted(TESTS.rglob("test_*.py")) if file.parent != TESTS]
    assert [reason for file in files if (reason := _misplaced(file))] == []


def _misplaced(file: Path) -> str | None:
    folder, module = file.parent, file.stem.removeprefix("test_")
    package = folder.parts[0]
    if package in ACROSS:
        return None
    if not (SOURCE / folder).is_dir():
        return f"{file}: there is no src/graphtrial/{folder}"
    places = {path.parent.relative_to(SOURCE) for path in (SOURCE / package).rglob(f"{module}.py")}
    return f"{file}: {module}.py is in {', '.join(map(str, places))}" if places and folder not in places else None
