"""Shell completion of names, from the generated index alone: no registry is imported."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from graphtrial.core.files import custom_home
from graphtrial.core.index import indexed_names

Complete = Callable[[str], list[str]]


def complete_dataset(incomplete: str) -> list[str]:
    """Complete a built-in dataset or one of the user."""
    own = sorted(path.stem for path in custom_home().glob("*.json"))
    return _matching([*indexed_names("datasets"), *own], incomplete)


def complete_model(incomplete: str) -> list[str]:
    """Complete a built-in model."""
    return _matching(indexed_names("models"), incomplete)


def complete_kernel(incomplete: str) -> list[str]:
    """Complete a graph kernel."""
    return _matching(indexed_names("kernels"), incomplete)


def complete_encoding(incomplete: str) -> list[str]:
    """Complete the last of several encodings, as in `rwse:20+lap`."""
    before, plus, last = incomplete.rpartition("+")
    return [f"{before}{plus}{name}" for name in _matching(["none", *indexed_names("encodings")], last)]


def complete_protocol(incomplete: str) -> list[str]:
    """Complete a training protocol."""
    return _matching(indexed_names("protocols"), incomplete)


def complete_study(incomplete: str) -> list[str]:
    """Complete a study of the catalog, a TOML file or a folder."""
    folder = Path(incomplete) if incomplete.endswith("/") else Path(incomplete).parent
    try:
        inside = sorted(folder.iterdir())
    except OSError:
        inside = []
    paths = [f"{path}/" if path.is_dir() else str(path) for path in inside if path.is_dir() or path.suffix == ".toml"]
    visible = [path for path in paths if not Path(path).name.startswith(".")]
    return [
        *_matching(indexed_names("studies"), incomplete),
        *(path for path in visible if path.startswith(incomplete)),
    ]


def _matching(names: list[str], incomplete: str) -> list[str]:
    return [name for name in names if name.lower().startswith(incomplete.lower())]
