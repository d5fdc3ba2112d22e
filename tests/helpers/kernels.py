"""Write a module with a kernel and call it in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

KERNEL = "from graphtrial.core.compiler import compiled\n{more}\n@compiled\ndef f(x):\n    return {body}\n"
CALL = """
import sys
sys.path.insert(0, {folder!r})
{before}
import kernel
print(kernel.f(10), len(kernel.f.stats.cache_hits))
"""


def run_kernel(folder: Path, before: str = "") -> tuple[int, list[int]]:
    text = CALL.format(folder=str(folder), before=before)
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "NUMBA_CACHE_DIR": str(folder / "kept")}
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env=environment, check=False)
    return done.returncode, [int(word) for word in done.stdout.split()]


def write_kernel(folder: Path, body: str, more: str = "") -> None:
    (folder / "kernel.py").write_text(KERNEL.format(body=body, more=more))
