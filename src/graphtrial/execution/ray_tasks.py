"""Ray tasks that run one trial each, and the mailbox of their updates."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from graphtrial.core.errors import GraphTrialError, missing_extra
from graphtrial.execution import mailbox
from graphtrial.execution.recording import TrialResult
from graphtrial.execution.remote import RemoteJob, RemoteUpdate, run_remote
from graphtrial.execution.worker import DriverGoneError

POLL_SECONDS = 0.5


def import_ray() -> Any:
    """Import Ray, which is optional."""
    try:
        import ray
    except ImportError:
        raise missing_extra("running trials on a cluster", "Ray", "ray") from None
    return ray


@contextmanager
def connected(ray: Any, address: str) -> Iterator[None]:
    """Connect to the cluster at `address`, unless the process is connected already."""
    if ray.is_initialized():
        yield
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    quiet = {"log_to_driver": False, "logging_level": "ERROR"}
    started = {"include_dashboard": False} if address == "local" else {}
    try:
        ray.init(address, job_config=_job_config(), **quiet, **started)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        raise GraphTrialError(f"cannot reach a Ray cluster at '{address}': {error}") from error
    try:
        yield
    finally:
        ray.shutdown()


def run_task(job: RemoteJob, box: Any, checkpoint_seconds: float) -> TrialResult:
    """Run one trial in a worker process of Ray."""
    ray = import_ray()

    def send(update: RemoteUpdate) -> None:
        try:
            ray.get(box.put.remote(update.to_dict()))  # blocks until the mailbox has it
        except ray.exceptions.RayError:
            raise DriverGoneError from None

    return run_remote(job, send, checkpoint_seconds=checkpoint_seconds)


def start_mailbox(ray: Any) -> Any:
    """Start the mailbox on the machine of the driver."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    ray.cloudpickle.register_pickle_by_value(mailbox)
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    return ray.remote(mailbox.Mailbox).options(num_cpus=0, scheduling_strategy=here).remote()


def wait_for_tasks(ray: Any, references: list[Any]) -> list[Any]:
    """Return the tasks that have ended, after waiting up to `POLL_SECONDS` for the first."""
    if not references:
        time.sleep(POLL_SECONDS)
        return []
    first = ray.wait(references, num_returns=1, timeout=POLL_SECONDS)[0]
    ended: list[Any] = ray.wait(references, num_returns=len(references), timeout=0)[0] if first else []
    return ended


def _job_config() -> Any:
    """Return the job configuration: workers import from the folder of the user's script, not from the current folder.

    By default Ray puts the current folder first on `sys.path`, where a `numpy.py` would shadow numpy.
    """
    from ray.job_config import JobConfig

    config: Any = JobConfig()
    script = os.path.dirname(os.path.realpath(sys.argv[0]))
    config._py_driver_sys_path = [script] if script in sys.path else []
    config._runtime_env_has_working_dir = lambda: True  # else Ray adds the current folder
    return config
