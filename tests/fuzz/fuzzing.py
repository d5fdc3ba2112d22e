"""Fuzzing of readers: malformed files are read or give a one-line error, in bounded time and memory."""

from __future__ import annotations

import gzip
import io
import logging
import os
import random
import resource
import shutil
import signal
import tempfile
import time
import traceback
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz.mutation import mutate
from tests.fuzz.readers import READERS, Files

from graphtrial.core.errors import GraphTrialError

SECONDS = 20.0
MEMORY_BYTES = 1_500_000_000


@dataclass
class Report:
    """How many files were read and how many refused, the slowest, and what went wrong with which file."""

    read: int = 0
    refused: int = 0
    slowest: float = 0.0
    grown: int = 0
    faults: list[str] = field(default_factory=list)


def fuzz(name: str, count: int, seed: int, faults: int = 10) -> Report:
    """Feed `count` spoilt files to a reader; stop after some faults."""
    reader, report, rng = READERS[name], Report(), random.Random(f"{name}{seed}")
    sound = reader.make()
    logging.disable(logging.WARNING)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    home = os.environ.get("GRAPHTRIAL_HOME")
    with _in_memory(), tempfile.TemporaryDirectory(prefix="fuzz-") as place:
        folder = Path(place) / "files"
        if name == "recipe":
            os.environ["GRAPHTRIAL_HOME"] = str(folder)
        try:
            _write(sound, folder)
            reader.read(folder)  # the examples themselves must be sound
            for number in range(count):
                spoilt = _spoil(sound, rng, reader.gaps)
                _write(spoilt, folder)
                _try(name, folder, spoilt, number, report)
                if len(report.faults) >= faults:
                    break
        finally:
            logging.disable(logging.NOTSET)
            if home is not None:
                os.environ["GRAPHTRIAL_HOME"] = home
    report.grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    if report.grown > MEMORY_BYTES:
        report.faults.append(f"memory grew by {report.grown / 1e9:.1f} GB")
    return report


def _try(name: str, folder: Path, spoilt: Files, number: int, report: Report) -> None:
    begun = time.perf_counter()
    try:
        with _time_limit(SECONDS):
            READERS[name].read(folder)
        report.read += 1
    except GraphTrialError as error:
        report.refused += 1
        if not str(error).strip() or len(str(error).splitlines()) != 1 or len(str(error)) > 2000:
            report.faults.append(f"input {number}: the reason is not one line: {str(error)[:300]!r}")
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        where = traceback.extract_tb(error.__traceback__)[-3:]
        lines = " <- ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in reversed(where))
        report.faults.append(f"input {number}: {type(error).__name__}: {str(error)[:200]} at {lines}")
    report.slowest = max(report.slowest, time.perf_counter() - begun)


def _spoil(sound: Files, rng: random.Random, gaps: bool) -> Files:
    """Spoil one of the files, or leave it out; a packed one is often spoilt inside, so that its reader sees it."""
    spoilt = dict(sound)
    name = rng.choice(sorted(sound))
    chance = rng.random()
    if gaps and chance < 0.03:
        del spoilt[name]
    elif name.endswith(".tar.gz") or name.endswith(".gz"):
        spoilt[name] = (
            gzip.compress(mutate(gzip.decompress(sound[name]), rng), 1) if chance < 0.8 else mutate(sound[name], rng)
        )
    elif zipfile.is_zipfile(io.BytesIO(sound[name])) and chance < 0.7:
        spoilt[name] = _spoil_member(sound[name], rng)
    else:
        spoilt[name] = mutate(sound[name], rng)
    return spoilt


def _spoil_member(data: bytes, rng: random.Random) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as given, zipfile.ZipFile(stream, "w") as built:
        victim = rng.choice(given.namelist())
        for member in given.infolist():
            content = given.read(member)
            built.writestr(member.filename, mutate(content, rng) if member.filename == victim else content)
    return stream.getvalue()


def _write(files: Files, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


@contextmanager
def _in_memory() -> Iterator[None]:
    """Let temporary files lie in memory where that is possible: thousands of files are flushed to them."""
    before = tempfile.tempdir
    if Path("/dev/shm").is_dir():
        tempfile.tempdir = "/dev/shm"
    try:
        yield
    finally:
        tempfile.tempdir = before


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    def ring(number: int, frame: object) -> None:
        raise TimeoutError(f"it took more than {seconds} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
