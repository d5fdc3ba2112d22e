"""Tasks: a level, an output type and a metric, with the loss that follows from them."""

from typing import Any

from graphtrial.core.plugins.imports import builtin_classes, class_attribute
from graphtrial.tasks.base import TASKS, Task, TaskLevel
from graphtrial.tasks.binary_classification import (
    EdgeBinaryClassification,
    GraphBinaryClassification,
    NodeBinaryClassification,
)
from graphtrial.tasks.classification import EdgeClassification, GraphClassification, NodeClassification
from graphtrial.tasks.graph_theory import GraphTheory
from graphtrial.tasks.link_prediction import LinkPrediction
from graphtrial.tasks.link_ranking import LinkRanking
from graphtrial.tasks.regression import EdgeRegression, GraphRegression, NodeRegression

__all__ = [
    "TASKS",
    "EdgeBinaryClassification",
    "EdgeClassification",
    "EdgeRegression",
    "GraphBinaryClassification",
    "GraphClassification",
    "GraphRegression",
    "GraphTheory",
    "LinkPrediction",
    "LinkRanking",
    "NodeBinaryClassification",
    "NodeClassification",
    "NodeRegression",
    "Task",
    "TaskLevel",
]


def __getattr__(name: str) -> Any:
    return class_attribute(__name__, TASKS, name)


def __dir__() -> list[str]:
    return [*__all__, *builtin_classes(TASKS)]
