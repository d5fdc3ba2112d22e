"""The store: one SQLite file with all trials, and a folder of weights and checkpoints next to it."""

from graphtrial.trials.store.record import FINISHED, TrialRecord
from graphtrial.trials.store.schema import SCHEMA_VERSION
from graphtrial.trials.store.store import Store

__all__ = ["FINISHED", "SCHEMA_VERSION", "Store", "TrialRecord"]
