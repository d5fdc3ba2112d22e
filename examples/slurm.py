"""A study on a Slurm cluster: one job per trial, one store at home, and no job that is lost costs more than an epoch.

    pip install 'graphtrial[slurm]'
    python examples/slurm.py STUDY --folder /shared/graphtrial --partition cpu --at-once 200

`--folder` lies on storage that all machines share: submitit keeps the jobs there and each trial its state, so that a
job that is preempted, times out or dies goes on from its last epoch. This script waits for the jobs and is the only
one that writes to the store; killed and started again it goes on. `--cluster local` runs the jobs on this machine.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import submitit

from graphtrial.core.files import DEFAULT_STORE, make_folder
from graphtrial.execution.recording import TrialResult, record_result
from graphtrial.execution.remote import RemoteJob, run_in_folder
from graphtrial.execution.remote_store import remote_job
from graphtrial.studies import load_study
from graphtrial.trials import Store, TrialSpec

ATTEMPTS = 3


class Trial:
    """A job: called by submitit on a machine of the cluster, and again where that one was taken away from it."""

    def __call__(self, job: RemoteJob, folder: Path) -> TrialResult:
        """Run the trial from its last epoch on."""
        return run_in_folder(job, make_folder(folder))

    def checkpoint(self, *args: Any) -> submitit.helpers.DelayedSubmission:
        """Say what to submit when the machine is taken away: the same, since the state is in the folder."""
        return submitit.helpers.DelayedSubmission(self, *args)


def run(study: str, store: Store, folder: Path, executor: submitit.Executor, wait_seconds: float = 5.0) -> None:
    """Run every trial of a study that has no result yet."""
    trials = load_study(study).trials()
    finished = {record.id for record in store.trials() if record.is_finished}
    missing = [trial for trial in trials if trial.id not in finished]
    submitted = zip(submit(missing, store, folder, executor), missing, strict=True)
    jobs = {job.job_id: (job, trial, 1) for job, trial in submitted}
    while jobs:
        for name, (job, trial, attempt) in list(jobs.items()):
            if not job.done():
                continue
            del jobs[name]
            try:
                result = job.result()
            except (submitit.core.utils.FailedJobError, submitit.core.utils.UncompletedJobError) as error:
                if attempt < ATTEMPTS:
                    (again,) = submit([trial], store, folder, executor)
                    jobs[again.job_id] = (again, trial, attempt + 1)
                    continue
                result = TrialResult(None, error=f"its job was lost {attempt} times: {error}")
            record_result(trial, store, result)
            print(trial.id, "failed" if result.error else "done", flush=True)
        time.sleep(wait_seconds)


def submit(trials: list[TrialSpec], store: Store, folder: Path, executor: submitit.Executor) -> list[submitit.Job]:
    """Submit a job for each trial, all as one array."""
    with executor.batch():
        return [executor.submit(Trial(), remote_job(trial, store), folder / "trials" / trial.id) for trial in trials]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("study", help="a study of the catalog, or a TOML file")
    parser.add_argument("--folder", type=Path, required=True, help="on storage that all machines share")
    parser.add_argument("--store", type=Path, default=DEFAULT_STORE)
    parser.add_argument("--cluster", choices=["slurm", "local"], default="slurm")
    parser.add_argument("--partition", help="of Slurm")
    parser.add_argument("--at-once", type=int, default=100, help="the most jobs that run at once")
    parser.add_argument(
        "--hours", type=int, default=13, help="after which Slurm ends a job; the rules end a trial at 12"
    )
    parser.add_argument("--memory-gb", type=int, default=4)
    parser.add_argument("--wait-seconds", type=float, default=5.0, help="between two looks at the jobs")
    given = parser.parse_args()
    made = submitit.AutoExecutor(folder=make_folder(given.folder / "jobs"), cluster=given.cluster)
    made.update_parameters(name="graphtrial", timeout_min=60 * given.hours, cpus_per_task=1, mem_gb=given.memory_gb)
    if given.cluster == "slurm":
        made.update_parameters(slurm_array_parallelism=given.at_once)
        if given.partition:
            made.update_parameters(slurm_partition=given.partition)
    run(given.study, Store(given.store), given.folder, made, given.wait_seconds)
