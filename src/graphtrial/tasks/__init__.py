"""What is asked of a model: loss, metric and direction for each kind of target."""

from graphtrial.tasks.base import TASKS, Task, TaskLevel, metric_range
from graphtrial.tasks.edge_classification import EdgeClassification
from graphtrial.tasks.graph_classification import GraphClassification
from graphtrial.tasks.graph_regression import GraphRegression
from graphtrial.tasks.graph_theory import GraphTheory
from graphtrial.tasks.link_prediction import LinkPrediction
from graphtrial.tasks.link_ranking import LinkRanking
from graphtrial.tasks.node_classification import BalancedNodeClassification, NodeClassification

__all__ = [
    "TASKS",
    "BalancedNodeClassification",
    "EdgeClassification",
    "GraphClassification",
    "GraphRegression",
    "GraphTheory",
    "LinkPrediction",
    "LinkRanking",
    "NodeClassification",
    "Task",
    "TaskLevel",
    "metric_range",
]
