"""Folders that are made once, whoever asks first, and made again when damaged."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from filelock import FileLock

from graphtrial.errors import CorruptFileError
from graphtrial.files import make_folder

T = TypeVar("T")
logger = logging.getLogger(__name__)


def cached(folder: Path, make: Callable[[], None], read: Callable[[], T]) -> T:
    """Return what `read` finds in `folder`; where it is absent or damaged, `make` it first.

    Any number of processes may ask at once: one makes it, the others wait. `make` must write the folder atomically,
    `read` must raise `CorruptFileError` for damage.
    """
    make_folder(folder.parent)
    with FileLock(folder.with_name(f"{folder.name}.lock")):
        if folder.exists():
            try:
                return read()
            except CorruptFileError as error:
                logger.warning("%s; it is made again", error)
                shutil.rmtree(folder)
        make()
        return read()
