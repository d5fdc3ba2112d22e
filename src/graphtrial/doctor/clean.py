"""What killed processes left behind, and how it is removed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.files import cache_home, is_locked
from graphtrial.core.temporary import SUFFIX, remove_stale_folders, stale_folders
from graphtrial.training.checkpoint import Checkpoint
from graphtrial.trials.fields import is_id

_LEVELS = 4


def places_of_cache() -> list[Path]:
    """Return the folders of the cache in which something is written, and that of temporary files."""
    home = cache_home()
    deep = [Path(folder) for folder, *_ in _walk(home)] if home.is_dir() else []
    return [*deep, Path(tempfile.gettempdir())]


def places_of_store(path: Path) -> list[Path]:
    """Return the folders in which a store and its trials are written: none below them that is not ours."""
    trials = path.parent / "trials"
    folders = [folder for folder in sorted(trials.iterdir()) if is_id(folder.name)] if trials.is_dir() else []
    return [path.parent, *folders]


def left_in(places: list[Path]) -> list[Path]:
    """Return the temporary folders in these places that no living process uses."""
    return [path for place in places for path in stale_folders(place)]


def clean(store: Path) -> list[Path]:
    """Remove what no living process uses: temporary folders, and checkpoints of finished trials; return what it was."""
    removed = [path for place in (*places_of_cache(), *places_of_store(store)) for path in remove_stale_folders(place)]
    return [*removed, *_checkpoints(store)]


def _checkpoints(path: Path) -> Iterator[Path]:
    from graphtrial.trials import Store

    if not path.is_file():
        return
    try:
        store = Store(path, read_only=True)
        finished = [record.id for record in store.trials() if record.is_finished]
    except GraphTrialError:  # what is wrong with it, the doctor says
        return
    for trial in finished:
        state = Checkpoint(store.checkpoint_file(trial))
        if not is_locked(store.lock_file(trial)):
            yield from (file for file in (state.path, state.previous) if file.is_file())
            state.remove()


def _walk(folder: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    """Walk down some levels, but not into temporary folders."""
    for place, folders, files in os.walk(folder):
        levels = len(Path(place).relative_to(folder).parts)
        folders[:] = [name for name in folders if not name.endswith(SUFFIX)] if levels < _LEVELS else []
        yield place, folders, files
