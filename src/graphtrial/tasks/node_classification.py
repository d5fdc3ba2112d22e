"""Node classification."""

from __future__ import annotations

from graphtrial.tasks.base import TASKS
from graphtrial.tasks.classification import BalancedClassification, Classification


@TASKS.register("node-classification")
class NodeClassification(Classification):
    """Predict the class of each node; accuracy in percent. prediction: [nodes, classes]; target: [nodes]."""

    name = "node-classification"
    level = "node"


@TASKS.register("balanced-node-classification")
class BalancedNodeClassification(BalancedClassification):
    """Predict the class of each node, rare classes counting as much as common ones, as on PATTERN and CLUSTER.

    prediction: [nodes, classes]; target: [nodes].
    """

    name = "balanced-node-classification"
    level = "node"
