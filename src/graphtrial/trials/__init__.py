"""Trials: their specification, their kinds, and the store of their results."""

from graphtrial.trials.store import Store, TrialRecord
from graphtrial.trials.trial import TrialSpec, run_trial

__all__ = ["Store", "TrialRecord", "TrialSpec", "run_trial"]
