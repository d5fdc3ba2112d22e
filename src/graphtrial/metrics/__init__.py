"""Metrics: registered by name, computed over all examples of a split at once."""

from graphtrial.metrics.base import METRICS, Metric, OutputType, make_metric, metric_range

__all__ = ["METRICS", "Metric", "OutputType", "make_metric", "metric_range"]
