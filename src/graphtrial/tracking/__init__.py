"""Copies of what the store learns, for tools that people look at training with. The store stays the source of truth."""

from graphtrial.tracking.tracker import TRACKERS, Tracker, tracked

__all__ = ["TRACKERS", "Tracker", "tracked"]
