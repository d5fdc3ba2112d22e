"""Metrics: registered by name, computed over all examples of a split at once."""

from typing import Any

from graphtrial.core.plugins.imports import builtin_classes, class_attribute
from graphtrial.metrics.base import METRICS, Metric, OutputType, make_metric, metric_range

__all__ = ["METRICS", "Metric", "OutputType", "make_metric", "metric_range"]


def __getattr__(name: str) -> Any:
    return class_attribute(__name__, METRICS, name)


def __dir__() -> list[str]:
    return [*__all__, *builtin_classes(METRICS)]
