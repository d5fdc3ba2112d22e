"""Entry point of the command `graphtrial`."""

from __future__ import annotations

import gc
import sys

TRAINS = ("run", "study", "tune", "reproduce")
WITHOUT_WORKERS = ("-h", "--help", "--dry-run", "--executor", "--workers")


def main() -> None:
    """Run the command line; a command that trains starts the fork server before its own imports."""
    words = sys.argv[1:]
    if words[:1] and words[0] in TRAINS and not any(word.split("=")[0] in WITHOUT_WORKERS for word in words):
        from graphtrial.core.parallel import prepare_workers

        prepare_workers()
    gc.disable()  # what imports make stays to the end: looking through it is a twentieth of `graphtrial list`
    from graphtrial.cli.main import main as run

    gc.freeze()
    gc.enable()
    run()
