"""Where worker processes come from; imports nothing heavy, so that a command can call it first of all."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from multiprocessing import forkserver
from multiprocessing.context import BaseContext

SAFE_PATH = "PYTHONSAFEPATH"
"""Heard by Python 3.11 and later."""


def cores() -> int:
    """Return the number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def worker_context(*, sklearn: bool = False) -> BaseContext:
    """Return the way in which worker processes are started.

    A fresh process per trial: nothing of one trial can reach another, and a killed one takes nobody along. Where there
    is one, a fork server has torch imported and the kernels loaded already, so that a worker costs milliseconds; with
    `sklearn` it has scikit-learn as well, whose import takes twice as long as a fold of a support vector machine.
    """
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    kernels = ["graphtrial.trials.kinds.gram_cache", "graphtrial.svm.cross_validation"]
    extra = kernels if sklearn and find_spec("sklearn") is not None else []
    context.set_forkserver_preload(["graphtrial.execution.preload", *extra])
    if context.get_start_method() == "forkserver":
        with _without_current_folder():
            forkserver.ensure_running()
    return context


def prepare_workers(*, sklearn: bool = False) -> None:
    """Let the fork server start its imports in the background, so that the first trial need not wait for them."""
    worker_context(sklearn=sklearn)


@contextmanager
def _without_current_folder() -> Iterator[None]:
    """Keep a Python that is started meanwhile from importing what lies in the current folder.

    The fork server is started by `python -c`, which would take a `numpy.py` there for numpy.
    """
    before = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[SAFE_PATH]
        else:
            os.environ[SAFE_PATH] = before
