"""Executors: trials in processes, on a Ray cluster, or several in one vectorized training."""

from graphtrial.execution.executor import Executor, Progress, StudyRun, make_executor, run_trials

__all__ = ["Executor", "Progress", "StudyRun", "make_executor", "run_trials"]
