"""Multi-task regression of node and graph properties."""

from __future__ import annotations

import torch
from torch import Tensor

from graphtrial.core.arguments import PositiveInt
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.signatures import validated
from graphtrial.graphs import GraphBatch
from graphtrial.metrics.errors import Log10MSE
from graphtrial.tasks.base import TASKS, Task


@TASKS.register("graph-theory")
class GraphTheory(Task):
    r"""Predict `targets` numbers for each node and as many for each graph, as on GraphTheoryProp (arXiv:2004.05718).

    .. math::
        \mathrm{loss} = \frac{1}{2T} \sum_{t=1}^{2T} \mathrm{MSE}_t, \qquad \mathrm{score} = \log_{10} \mathrm{loss}

    Predictions are one tensor, rows of nodes first, then rows of graphs. The target, built from the node column
    `node_y` and the graph column `y`, has one more column, which is 1 in rows of graphs, so that the tables of several
    batches can be concatenated. predictions: [nodes + graphs, T]; target: [nodes + graphs, T + 1].
    """

    name = "graph-theory"
    level = "node and graph"
    output_type = "real"
    metric: Log10MSE

    @validated
    def __init__(self, targets: PositiveInt = 3) -> None:
        super().__init__(targets, "log10-mse")

    def target(self, batch: GraphBatch) -> Tensor:
        """Return the targets of nodes and graphs in one table."""
        node_y, graph_y = batch.columns.get("node_y"), batch.y
        if node_y is None or graph_y is None:
            raise GraphTrialError("these graphs lack the target columns 'node_y' of nodes and 'y' of graphs")
        marked = [torch.cat([y, y.new_full((len(y), 1), float(i))], dim=1) for i, y in enumerate((node_y, graph_y))]
        return torch.cat(marked)

    def loss(self, predictions: Tensor, target: Tensor) -> Tensor:
        return self.errors(predictions, target).mean()

    def score(self, predictions: Tensor, target: Tensor) -> float:
        self.require_examples(target)
        return self.metric.reduce(self.errors(predictions.double(), target))

    def matched(self, predictions: Tensor, target: Tensor) -> Tensor:
        if predictions.shape != (len(target), self.outputs) or target.shape[1] != self.outputs + 1:
            raise GraphTrialError(
                f"predictions of shape {tuple(predictions.shape)} do not fit targets of shape {tuple(target.shape)}"
            )
        return target[:, :-1].to(predictions.dtype)

    def errors(self, predictions: Tensor, target: Tensor) -> Tensor:
        """Return the mean squared error of each target [2, T]: those of nodes, then those of graphs."""
        squares = (predictions - self.matched(predictions, target)).square()
        of_graph = target[:, -1] == 1
        if squares.device.type != "cpu":
            masks = torch.stack([~of_graph, of_graph]).unsqueeze(2)
            return torch.where(masks, squares, 0.0).sum(dim=1) / masks.sum(dim=1)
        return torch.stack([squares[~of_graph].mean(dim=0), squares[of_graph].mean(dim=0)])
