"""Experiment trackers (MLflow, TensorBoard, Weights & Biases), which receive copies of what the store records."""

from graphtrial.tracking.tracker import TRACKERS, Tracker, tracked

__all__ = ["TRACKERS", "Tracker", "tracked"]
