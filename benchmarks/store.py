"""Contestants of the store: transactions of one epoch each, on a store that is kept open or reopened each time."""

from __future__ import annotations

import multiprocessing
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from multiprocessing.connection import Connection
from pathlib import Path

from benchmarks.match import OURS, Match, Side
from benchmarks.protocol import Tick

REOPENED = "file opened for each"
THOUSAND = 1000


def matches(quick: bool) -> Iterable[Match]:
    """Yield 1,000 transactions of one process, and of two at once."""
    few = 20 if quick else 50
    for writers, name in ((1, "one writer"), (2, "two writers")):
        many = {"writers": writers, "transactions": 100 if quick else 2000, "held_open": True}
        sides = (
            Side(OURS, "benchmarks.store:transactions", many),
            Side(REOPENED, "benchmarks.store:transactions", {**many, "transactions": few, "held_open": False}),
        )
        yield Match(f"store/1,000 transactions, {name}", sides, 1 if quick else 5)


def transactions(ready: Callable[..., None], tick: Tick, writers: int, transactions: int, held_open: bool) -> None:
    """Record epochs of unfinished trials, each in a transaction; seconds are those of 1,000 of all writers together."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["graphtrial.execution.worker"])
    ready()
    while True:
        with tempfile.TemporaryDirectory(prefix="graphtrial-bench-") as folder:
            path, pipes, processes = Path(folder) / "store.sqlite", [], []
            for number in range(writers):
                ours, theirs = context.Pipe()
                processes.append(context.Process(target=_write, args=(path, number, transactions, held_open, theirs)))
                pipes.append(ours)
                processes[-1].start()
                theirs.close()  # so that a writer that fails is noticed
            for pipe in pipes:
                pipe.recv()  # it has started its trial
            start = time.perf_counter()
            for pipe in pipes:
                pipe.send("go")
            for pipe in pipes:
                pipe.recv()
            seconds = time.perf_counter() - start
            for process in processes:
                process.join()
        tick(seconds * THOUSAND / (writers * transactions), float(transactions))


def _write(path: Path, number: int, transactions: int, held_open: bool, pipe: Connection) -> None:
    from graphtrial.core.spec import Component
    from graphtrial.training import PROTOCOLS
    from graphtrial.training.outcome import Epoch
    from graphtrial.trials import Store, TrialSpec

    protocol = PROTOCOLS.get("bgnn-v5/csl")
    spec = TrialSpec("csl", "0" * 64, 0, Component("gcn", {}), None, 0, "bgnn-v5/csl@1", protocol.rules, number)
    store = Store(path)
    store.start(spec, "accuracy", True, {})
    with store.kept_open() if held_open else nullcontext():
        pipe.send("ready")
        pipe.recv()
        for epoch in range(1, transactions + 1):
            store.add_epochs(spec.id, [Epoch(epoch, 1e-3, 1.0, 1.0, 50.0, 0.1)])
        pipe.send("done")
