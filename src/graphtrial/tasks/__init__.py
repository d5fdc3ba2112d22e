"""What is asked of a model: loss, metric and direction for each kind of target."""

from graphtrial.tasks.base import TASKS, Task
from graphtrial.tasks.graph_classification import GraphClassification
from graphtrial.tasks.graph_regression import GraphRegression

__all__ = ["TASKS", "GraphClassification", "GraphRegression", "Task"]
