"""Where worker processes come from; imports nothing heavy, so that a command can call it first of all."""

from __future__ import annotations

import multiprocessing
import os
from multiprocessing import forkserver
from multiprocessing.context import BaseContext


def cores() -> int:
    """Return the number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def worker_context() -> BaseContext:
    """Return the way in which worker processes are started.

    A fresh process per trial: nothing of one trial can reach another, and a killed one takes nobody along. Where there
    is one, a fork server has torch imported and the kernels loaded already, so that a worker costs milliseconds.
    """
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    context.set_forkserver_preload(["graphtrial.studies.preload"])
    return context


def prepare_workers() -> None:
    """Let the fork server start its imports in the background, so that the first trial need not wait for them."""
    if worker_context().get_start_method() == "forkserver":
        forkserver.ensure_running()
