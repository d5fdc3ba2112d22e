"""Trials, studies, the processes that run them and the store that remembers them."""

from graphtrial.studies.executor import Executor, Progress, make_executor, run_trials
from graphtrial.studies.store import Store, TrialRecord
from graphtrial.studies.study import Row, Study
from graphtrial.studies.study_files import catalog, load_study
from graphtrial.studies.trial import TrialSpec, run_trial

__all__ = [
    "Executor",
    "Progress",
    "Row",
    "Store",
    "Study",
    "TrialRecord",
    "TrialSpec",
    "catalog",
    "load_study",
    "make_executor",
    "run_trial",
    "run_trials",
]
