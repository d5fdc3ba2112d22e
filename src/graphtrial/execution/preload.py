"""Imports and compilation in the fork server, so that worker processes start within milliseconds.

The first worker is what somebody waits for: it loads the kernels that it uses by itself, while the fork server loads
all of them, which takes half a second, for the workers after it. A kernel that does not compile fails the trials that
use it, not the fork server.
"""

import os
from contextlib import suppress

import numpy as np

import graphtrial.execution.worker  # noqa: F401
from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch, GraphSet
from graphtrial.ops import kernels
from graphtrial.tape import runner
from graphtrial.trials.environment import environment

environment()  # hashes the source of the package, once for all workers
with suppress(GraphTrialError):
    if runner.is_ready():
        runner.warm_up()
    graphs = GraphSet.build([2], [1], np.array([[0], [1]]))
    for array in graphs.structure.values():
        array.flags.writeable = False  # read-only as a memory-mapped set: another type for Numba
    GraphBatch.from_set(graphs, [0])

_waiting = [kernels.warm_up]


def _load_kernels() -> None:
    with suppress(GraphTrialError):
        if _waiting:
            _waiting.pop()()


os.register_at_fork(after_in_parent=_load_kernels)
