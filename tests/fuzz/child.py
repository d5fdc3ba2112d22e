"""Runs commands one after the other in this process and writes down each before it begins; `hunt` starts it.

    python -m tests.fuzz.child KIND SEED COUNT SECONDS LOG

A traceback, the line about an internal error, a command that takes too long, and one that fails without a word are
faults. A process that is stuck below Python ends itself, and the last line of the log says where.
"""

from __future__ import annotations

import faulthandler
import json
import logging
import os
import random
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.fuzz.commands import command_line, commands
from tests.fuzz.studies import study_line, texts
from tests.fuzz.world import build_world
from tests.helpers.cli import CliRunner

from graphtrial.cli.failures import INTERNAL, INTERNAL_ERROR
from graphtrial.cli.main import app

MEMORY_BYTES = 16 << 30
SLOW = 300.0
"""Seconds after which a command counts as hanging; nothing here has more to do than a second's work."""


def lines(kind: str) -> Callable[[random.Random], list[str]]:
    """Return the generator of command lines of a kind."""
    if kind == "studies":
        catalog_studies = texts()
        return lambda rng: study_line(rng, catalog_studies)
    registered = commands()
    return lambda rng: command_line(rng, registered)


def fault_of(words: list[str]) -> str | None:
    """Run a command and return what is wrong with its end, or nothing."""
    rang: list[str] = []

    def ring(number: int, frame: Any) -> None:
        rang.append("".join(traceback.format_stack(frame)[-3:]))
        raise TimeoutError

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, SLOW)
    faulthandler.dump_traceback_later(3 * SLOW, exit=True)
    try:
        done = CliRunner().invoke(app, words)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()
    message = done.output
    if rang:
        return f"it took more than {SLOW} s: {rang[0]}"
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        return "".join(traceback.format_exception(done.exception))[-1500:]
    if done.exit_code == INTERNAL or INTERNAL_ERROR in message:
        remaining = Path(os.environ["GRAPHTRIAL_HOME"], "last-traceback.txt")
        return message[-500:] + (remaining.read_text(encoding="utf-8")[-1500:] if remaining.exists() else "")
    if "Traceback (most recent call last)" in message:
        return message[-1500:]
    if done.exit_code != 0 and not message.strip():
        return f"it failed with {done.exit_code} and said nothing"
    return None


def main(kind: str, seed: str, count: str, seconds: str, log: str) -> None:
    """Run so many commands, or for so long, and log every one of them."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    logging.disable(logging.WARNING)
    make, rng = lines(kind), random.Random(f"{kind} {seed}")
    home = Path.cwd()
    build_world()
    end = time.monotonic() + float(seconds)
    with open(log, "w", encoding="utf-8", errors="surrogatepass") as notes:
        for _ in range(int(count)):
            words = make(rng)
            notes.write(json.dumps({"words": words}) + "\n")
            notes.flush()
            fault = fault_of(words)
            if fault is not None:
                study = Path("spoilt.toml").read_text(encoding="utf-8") if "spoilt.toml" in words else ""
                notes.write(json.dumps({"fault": fault, "words": words, "study": study[:2000]}) + "\n")
            os.chdir(home)
            if time.monotonic() > end:
                break
        notes.write(json.dumps({"end": True}) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
