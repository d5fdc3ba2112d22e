"""Which package may import which."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "graphtrial"
EVERYTHING_ABOVE = "..."
MAY_IMPORT: dict[str, str] = {
    "core": "",
    "io": "core",
    "graphs": "core",
    "svm": "core",
    "tsp": "core",
    "ops": "core graphs",
    "metrics": "core",
    "tasks": "core graphs metrics",
    "encodings": "core graphs ops",
    "kernels": "core graphs",
    "nn": "core graphs ops tasks",
    "tape": "core graphs ops nn",
    "datasets": "core graphs io metrics tasks tsp",
    "wikipedia": "core graphs datasets",
    "training": "core graphs ops metrics tasks encodings nn tape svm",
    "published": "core encodings nn",
    "plots": "core graphs io nn datasets",
    "trials": "core graphs svm metrics tasks encodings kernels nn datasets training published",
    "shipped": "core trials",
    "studies": "core svm encodings kernels nn datasets training published trials shipped",
    "execution": "core graphs ops svm nn tape datasets training trials",
    "tuning": "core encodings nn datasets training trials studies execution",
    "results": "core svm tasks metrics encodings kernels nn datasets training published trials studies execution "
    "tuning",
    "report": "core metrics tasks encodings kernels nn datasets training published trials studies tuning results plots",
    "tracking": "core encodings training trials execution results",
    "doctor": "core graphs io ops nn tape datasets training trials studies tuning",
    "validation": "core graphs svm metrics tasks encodings nn datasets training trials studies tuning",
    "api": EVERYTHING_ABOVE,
    "cli": EVERYTHING_ABOVE,
    "__main__": "cli",
    "__init__": EVERYTHING_ABOVE,
}
"""What each package may import, from the lowest to the highest: only packages above it in this table.

An import inside a function counts, and so does one for type checkers alone.
"""


def package_of(file: Path) -> str:
    """Return the package of a source file, or the module itself at the top level."""
    parts = file.relative_to(SOURCE).parts
    return parts[0] if len(parts) > 1 else file.stem


def imported_packages(file: Path) -> Iterator[tuple[str, int]]:
    """Yield every package of ours that a file imports anywhere in it, and the line."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}, line {node.lineno}: write the import in full"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] == "graphtrial" and parts[1:2] != ["__version__"]:
                yield (parts[1] if len(parts) > 1 else "__init__"), getattr(node, "lineno", 0)


def test_layer_table_is_complete_and_acyclic() -> None:
    packages = {file.name for file in SOURCE.iterdir() if file.is_dir() and any(file.rglob("*.py"))}
    assert packages | {file.stem for file in SOURCE.glob("*.py")} <= set(MAY_IMPORT)
    order = list(MAY_IMPORT)
    for package in order:
        assert allowed(package) <= set(order[: order.index(package)]), package


def allowed(package: str) -> set[str]:
    """Return the packages that one may import."""
    words = MAY_IMPORT[package]
    order = list(MAY_IMPORT)
    return set(order[: order.index(package)] if words == EVERYTHING_ABOVE else words.split())


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_packages_import_only_allowed_packages(package: str) -> None:
    files = sorted(SOURCE.glob(f"{package}.py")) or sorted((SOURCE / package).rglob("*.py"))
    wrong = [
        f"{file.relative_to(SOURCE)}, line {line}, imports {other}"
        for file in files
        for other, line in imported_packages(file)
        if other != package and other not in allowed(package)
    ]
    assert not wrong
