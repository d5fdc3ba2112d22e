"""Prepared datasets that outlive a session, as long as nothing that affects them changes.

Preparing them takes most of a minute, and few changes of the code concern them. A session begins with links to those
of an earlier one whose sources, libraries and raw files were the same; each is verified when it is read, as in every
cache. The long form prepares everything again.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from importlib.metadata import distributions
from pathlib import Path

from filelock import FileLock
from tests.test_layers import SOURCE, allowed

from graphtrial.core.files import atomic_folder


def fingerprint(raw: Path | None) -> str:
    """Hash every source that may compute a dataset, the versions of all libraries, and what tells raw files apart."""
    hasher = hashlib.sha256(sys.version.encode())
    packages, waiting = {"datasets"}, {"datasets"}
    while waiting:
        waiting |= allowed(waiting.pop()) - packages
        packages |= waiting
    for file in sorted(path for package in packages for path in (SOURCE / package).rglob("*") if path.is_file()):
        if "__pycache__" not in file.parts:
            hasher.update(file.relative_to(SOURCE).as_posix().encode() + file.read_bytes())
    hasher.update(repr(sorted({f"{each.name} {each.version}" for each in distributions()})).encode())
    for file in sorted(raw.iterdir()) if raw is not None else ():
        hasher.update(f"{file.name} {file.stat().st_size} {file.stat().st_mtime_ns}".encode())
    return hasher.hexdigest()[:16]


def restore(cached: Path, home: Path) -> None:
    """Link the datasets kept of an earlier session into a new cache folder; the first of several processes does it."""
    with FileLock(home.with_suffix(".lock")):
        for folder in sorted(cached.iterdir()) if cached.is_dir() and not home.exists() else ():
            try:
                shutil.copytree(folder, home / "datasets" / folder.name, copy_function=_link)
            except OSError:  # a session of other sources, at the same time, removes it
                shutil.rmtree(home / "datasets" / folder.name, ignore_errors=True)
        home.mkdir(exist_ok=True)


def keep(home: Path, cached: Path) -> None:
    """Keep the small datasets of the package for the next session, and remove those of other sources."""
    if not (home / "datasets").is_dir():
        return
    from graphtrial.datasets import DATASETS

    kinds = {name: DATASETS.get(name) for name in DATASETS.names()}
    small = {name for name, kind in kinds.items() if kind.__module__.startswith("graphtrial.") and not kind.large}
    cached.mkdir(parents=True, exist_ok=True)
    with FileLock(cached.parent.with_suffix(".lock")):  # all processes of a session end at the same time
        for other in cached.parent.iterdir():
            if other != cached:
                shutil.rmtree(other, ignore_errors=True)
        for folder in sorted((home / "datasets").glob("*-????????????????")):
            if folder.is_dir() and folder.name.rpartition("-")[0] in small and not (cached / folder.name).exists():
                with atomic_folder(cached / folder.name, flush=False) as temporary:
                    shutil.copytree(folder, temporary, copy_function=_link, dirs_exist_ok=True)


def _link(source: str, target: str) -> None:
    """Link a file, which is never written again, or copy it to another file system."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
