"""Run a study as a Slurm job array through submitit: one job per trial, checkpoints on shared storage, one store.

    pip install 'graphtrial[slurm]'
    python examples/slurm.py STUDY --folder /shared/graphtrial --partition cpu --at-once 200

`--folder` is on shared storage: submitit keeps its jobs there and each trial its checkpoint, so that a job that is
preempted, times out or dies resumes from its last epoch. This script (the driver) waits for the jobs and is the only
writer of the store; restart it to resume a study. `--cluster local` runs the jobs on this machine.
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
    """Job function with submitit's `checkpoint` protocol: called on a node, and again after preemption."""

    def __call__(self, job: RemoteJob, folder: Path) -> TrialResult:
        """Run the trial, resuming from its checkpoint."""
        return run_in_folder(job, make_folder(folder))

    def checkpoint(self, *args: Any) -> submitit.helpers.DelayedSubmission:
        """Resubmit the same job after preemption; its checkpoint is in the folder."""
        return submitit.helpers.DelayedSubmission(self, *args)


def run(study: str, store: Store, folder: Path, executor: submitit.Executor, wait_seconds: float = 5.0) -> None:
    """Run every trial of a study without a result."""
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
                    (retry,) = submit([trial], store, folder, executor)
                    jobs[retry.job_id] = (retry, trial, attempt + 1)
                    continue
                result = TrialResult(None, error=f"its job was lost {attempt} times: {error}")
            record_result(trial, store, result)
            print(trial.id, "failed" if result.error else "done", flush=True)
        time.sleep(wait_seconds)


def submit(trials: list[TrialSpec], store: Store, folder: Path, executor: submitit.Executor) -> list[submitit.Job]:
    """Submit one job array with a job per trial."""
    with executor.batch():
        return [executor.submit(Trial(), remote_job(trial, store), folder / "trials" / trial.id) for trial in trials]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("study", help="name of an included study, or a TOML file")
    parser.add_argument("--folder", type=Path, required=True, help="folder on shared storage")
    parser.add_argument("--store", type=Path, default=DEFAULT_STORE)
    parser.add_argument("--cluster", choices=["slurm", "local"], default="slurm")
    parser.add_argument("--partition", help="Slurm partition")
    parser.add_argument("--at-once", type=int, default=100, help="maximum number of concurrent jobs")
    parser.add_argument("--hours", type=int, default=13, help="time limit of a job; that of most protocols is 12 hours")
    parser.add_argument("--memory-gb", type=int, default=4)
    parser.add_argument("--wait-seconds", type=float, default=5.0, help="polling interval")
    args = parser.parse_args()
    executor = submitit.AutoExecutor(folder=make_folder(args.folder / "jobs"), cluster=args.cluster)
    executor.update_parameters(name="graphtrial", timeout_min=60 * args.hours, cpus_per_task=1, mem_gb=args.memory_gb)
    if args.cluster == "slurm":
        executor.update_parameters(slurm_array_parallelism=args.at_once)
        if args.partition:
            executor.update_parameters(slurm_partition=args.partition)
    run(args.study, Store(args.store), args.folder, executor, args.wait_seconds)
