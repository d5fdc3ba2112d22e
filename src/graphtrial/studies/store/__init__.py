"""The store: one SQLite file that remembers every trial, with a folder of weights and checkpoints beside it."""

from graphtrial.studies.store.record import FINISHED, TrialRecord
from graphtrial.studies.store.schema import SCHEMA_VERSION
from graphtrial.studies.store.store import Store

__all__ = ["FINISHED", "SCHEMA_VERSION", "Store", "TrialRecord"]
