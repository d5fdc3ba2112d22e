"""Graph classification."""

from __future__ import annotations

from graphtrial.tasks.base import TASKS
from graphtrial.tasks.classification import Classification


@TASKS.register("graph-classification")
class GraphClassification(Classification):
    """Predict the class of each graph; accuracy in percent. prediction: [graphs, classes]; target: [graphs]."""

    name = "graph-classification"
    level = "graph"
