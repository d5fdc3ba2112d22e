"""Run the loader of another library in a process of its own, which returns plain arrays."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.files import cache_home, make_folder
from graphtrial.core.parallel import SAFE_PATH
from graphtrial.datasets.custom.library.names import LIBRARIES, LibraryName

logger = logging.getLogger(__name__)
MODULE = "graphtrial.datasets.custom.library.load"
ERROR = "error.json"
GRAPHS = "graphs"
# torch.load of version 2.6 and later refuses the objects in files of OGB, unless told so for the whole process.
UNPICKLE = "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"


def root_of(name: LibraryName) -> Path:
    """Return the folder that the library downloads into: a `root` of PyG or OGB."""
    folder = cache_home() / "libraries" / name.library
    return folder / name.dataset if name.library == "pyg" else folder


def load_in_process(name: LibraryName, folder: Path) -> list[Path]:
    """Load a dataset by its library in another process; returns the files of a saved `GraphSet` below `folder`.

    They are arrays without objects and a JSON manifest, and are verified when they are read.
    """
    library, root = LIBRARIES[name.library], make_folder(root_of(name))
    logger.warning(
        "%s: %s downloads and unpickles files, in a process with your rights, in %s", name.text, library, root
    )
    request = {key: value for key, value in asdict(name).items() if key != "entry"}
    request |= {"task": name.entry.task, "root": str(root), "out": str(folder)}
    environment = {**os.environ, SAFE_PATH: "1", UNPICKLE: "1"}
    command = [sys.executable, "-m", MODULE, json.dumps(request)]
    # Standard output belongs to the command, which may print JSON there.
    done = subprocess.run(command, env=environment, stdout=sys.__stderr__, stderr=sys.__stderr__, check=False)
    error = folder / ERROR
    if done.returncode or error.exists():
        raise GraphTrialError(f"{library} could not load {name.text}: {_message(error, done.returncode)}")
    return sorted((folder / GRAPHS).iterdir())


def _message(path: Path, code: int) -> str:
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["message"])
    except (OSError, ValueError, KeyError, TypeError):
        return f"its process ended with code {code}, perhaps because memory ran out"
