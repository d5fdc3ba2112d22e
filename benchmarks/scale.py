"""Overhead of a study of many trials: scheduling, writes to the store, checkpoints of remote workers.

`python -m benchmarks.scale` prints the numbers of docs/clusters.md. Trials are trivial: one epoch of a small MLP on
the smallest dataset.
"""

from __future__ import annotations

import multiprocessing
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from graphtrial.execution import run_trials
from graphtrial.execution.processes import Processes
from graphtrial.execution.ray_cluster import RayCluster
from graphtrial.execution.remote import RemoteUpdate
from graphtrial.execution.remote_store import record_updates
from graphtrial.studies import ModelEntry, Study
from graphtrial.training.outcome import Epoch, Outcome
from graphtrial.trials import Store, TrialSpec

EPOCH = Epoch(1, 1e-3, 1.0, 1.0, 50.0, 0.1)


def trivial(count: int) -> list[TrialSpec]:
    """Return trials of negligible run time."""
    row = ModelEntry("mlp", {"width": 4, "layers": 1})
    study = Study("s", "csl", (row,), seeds=tuple(range(count)), splits=1, rules={"stopping.max_epochs": 1})
    return study.trials()


def main() -> None:
    """Measure and print."""
    folder = Path(tempfile.mkdtemp(prefix="graphtrial-scale-"))
    try:
        print(f"store, one process: {_writes(folder, 1, 5.0):.0f} writes/s")
        print(f"store, eight processes: {_writes(folder, 8, 5.0):.0f} writes/s")
        trials = trivial(40)
        alone = _seconds(trials[:10], folder / "alone", Processes(0)) / 10
        print(f"trivial trial in a warm process: {1000 * alone:.0f} ms")
        for name, executor in (("processes", Processes()), ("ray", RayCluster())):
            few, many = (_seconds(part, folder / f"{name}{len(part)}", executor) for part in (trials[:10], trials))
            each = 1000 * (many - few) / (len(trials) - 10)
            print(f"{name}: {each:.0f} ms per trivial trial, {few:.1f} s for the first ten")
        print(f"Ray alone: {_bare_tasks():.0f} empty tasks/s")
        for size in (100_000, 1_000_000):
            rate = _checkpoints(folder, trials[0], size)
            print(f"checkpoints of {size / 1e6:.1f} MB written by the driver: {rate:.0f} per second")
    finally:
        shutil.rmtree(folder)


def _seconds(trials: list[TrialSpec], folder: Path, executor: Any) -> float:
    begun = time.perf_counter()
    run_trials(trials, Store(folder / "s.sqlite"), executor=executor)
    return time.perf_counter() - begun


def _write(path: Path, process: int, seconds: float, counts: Any) -> None:
    store, spec = Store(path), trivial(1)[0]
    deadline, count = time.monotonic() + seconds, 0
    while time.monotonic() < deadline:
        own = TrialSpec.from_dict({**spec.to_dict(), "seed": 1_000_000 * process + count})
        store.start(own, "accuracy", True, {})
        store.add_epochs(own.id, [EPOCH])
        store.finish(own.id, Outcome("done", 1, [EPOCH], {"test": 1.0}))
        count += 1
    counts[process] = 3 * count


def _writes(folder: Path, processes: int, seconds: float) -> float:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["graphtrial.execution.worker"])
    counts: Any = context.Array("q", processes)
    path = folder / f"writers{processes}" / "s.sqlite"
    Store(path)
    started = [context.Process(target=_write, args=(path, n, seconds, counts)) for n in range(processes)]
    for process in started:
        process.start()
    for process in started:
        process.join()
    return int(sum(counts)) / seconds


def _bare_tasks(count: int = 2000) -> float:
    import ray

    ray.init(address="local", include_dashboard=False, log_to_driver=False)
    try:
        task = ray.remote(_nothing)
        ray.get([task.remote() for _ in range(20)])
        begun = time.perf_counter()
        ray.get([task.remote() for _ in range(count)])
        return count / (time.perf_counter() - begun)
    finally:
        ray.shutdown()


def _nothing() -> None:
    return None


def _checkpoints(folder: Path, spec: TrialSpec, size: int, count: int = 100) -> float:
    store, state = Store(folder / f"states{size}" / "s.sqlite"), bytes(size)
    begun = time.perf_counter()
    for _ in range(count):
        record_updates([RemoteUpdate(spec.id, epoch=EPOCH, state=state)], {spec.id: spec}, store)
    return count / (time.perf_counter() - begun)


if __name__ == "__main__":
    main()
