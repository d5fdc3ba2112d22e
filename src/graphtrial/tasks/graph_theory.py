"""Several properties of nodes and of graphs at once."""

from __future__ import annotations

import math
import sys

import torch
from torch import Tensor

from graphtrial.core.arguments import Count, validated
from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.tasks.base import TASKS, Task


@TASKS.register("graph-theory")
class GraphTheory(Task):
    r"""Predict `targets` numbers for each node and as many for each graph; the logarithm of the mean squared error.

    .. math::
        \mathrm{loss} = \frac{1}{2T} \sum_{t=1}^{2T} \mathrm{MSE}_t, \qquad \mathrm{score} = \log_{10} \mathrm{loss}

    A model answers in one table, the rows of the nodes first and then those of the graphs. The target has one column
    more, which is 1 for the rows of graphs, so that tables of several batches can be joined. It is made of the node
    column `node_y` and the graph column `y`. prediction: [nodes + graphs, T]; target: [nodes + graphs, T + 1].
    """

    name = "graph-theory"
    level = "node and graph"
    metric = "log10 MSE"
    higher_is_better = False

    @validated
    def __init__(self, targets: Count = 3) -> None:
        self.outputs = targets

    def target(self, batch: GraphBatch) -> Tensor:
        """Return the targets of nodes and graphs in one table."""
        of_nodes, of_graphs = batch.columns.get("node_y"), batch.y
        if of_nodes is None or of_graphs is None:
            raise GraphTrialError("these graphs lack the target columns 'node_y' of nodes and 'y' of graphs")
        marked = [torch.cat([y, y.new_full((len(y), 1), float(i))], dim=1) for i, y in enumerate((of_nodes, of_graphs))]
        return torch.cat(marked)

    def loss(self, prediction: Tensor, target: Tensor) -> Tensor:
        return self.errors(prediction, target).mean()

    def score(self, prediction: Tensor, target: Tensor) -> float:
        self.scored(target)
        mean = float(self.errors(prediction.double(), target).mean())
        return math.log10(max(mean, sys.float_info.min))  # an error of 0 has no logarithm

    def errors(self, prediction: Tensor, target: Tensor) -> Tensor:
        """Return the mean squared error of each target [2, T]: those of nodes, then those of graphs."""
        if prediction.shape != (len(target), self.outputs) or target.shape[1] != self.outputs + 1:
            raise GraphTrialError(
                f"predictions of shape {tuple(prediction.shape)} do not fit targets of shape {tuple(target.shape)}"
            )
        squares = (prediction - target[:, :-1].to(prediction.dtype)).square()
        of_graph = target[:, -1] == 1
        return torch.stack([squares[~of_graph].mean(dim=0), squares[of_graph].mean(dim=0)])
