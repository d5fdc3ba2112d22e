"""Temporary files of killed processes, and their removal."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.files import cache_home
from graphtrial.core.temporary import SUFFIX, remove_stale_folders, stale_folders
from graphtrial.training.checkpoint import Checkpoint
from graphtrial.trials.fields import is_id
from graphtrial.trials.heartbeat import is_running

_LEVELS = 4


def cache_folders() -> list[Path]:
    """Return the folders of the cache, and that of temporary files."""
    home = cache_home()
    deep = [Path(folder) for folder, *_ in _walk(home)] if home.is_dir() else []
    return [*deep, Path(tempfile.gettempdir())]


def store_folders(path: Path) -> list[Path]:
    """Return the folders of a store and of its trials."""
    trials = path.parent / "trials"
    folders = [folder for folder in sorted(trials.iterdir()) if is_id(folder.name)] if trials.is_dir() else []
    return [path.parent, *folders]


def stale_in(folders: list[Path]) -> list[Path]:
    """Return the stale temporary folders in these folders."""
    return [path for folder in folders for path in stale_folders(folder)]


def clean(store: Path) -> list[Path]:
    """Remove stale temporary folders and checkpoints of finished trials; return their paths."""
    folders = (*cache_folders(), *store_folders(store))
    removed = [path for folder in folders for path in remove_stale_folders(folder)]
    return [*removed, *_checkpoints(store)]


def _checkpoints(path: Path) -> Iterator[Path]:
    from graphtrial.trials import Store

    if not path.is_file():
        return
    try:
        store = Store(path, read_only=True)
        finished = [record.id for record in store.trials() if record.is_finished]
    except GraphTrialError:  # reported by `check_store`
        return
    for trial in finished:
        state = Checkpoint(store.checkpoint_file(trial))
        if not is_running(store, trial):
            yield from (file for file in (state.path, state.previous) if file.is_file())
            state.remove()


def _walk(folder: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    """Walk down `_LEVELS` levels, but not into temporary folders."""
    for path, folders, files in os.walk(folder):
        levels = len(Path(path).relative_to(folder).parts)
        folders[:] = [name for name in folders if not name.endswith(SUFFIX)] if levels < _LEVELS else []
        yield path, folders, files
