"""Deep Graph Infomax: self-supervised node embeddings."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from graphtrial.core.process import compute_settings, seed_everything
from graphtrial.graphs import GraphBatch
from graphtrial.graphs.self_loops import add_remaining_self_loops
from graphtrial.nn.layers import Linear
from graphtrial.nn.raw_features import raw_node_features, raw_node_width
from graphtrial.nn.shapes import Shapes
from graphtrial.ops import aggregate, symmetric_weight

RATE, EPOCHS, PATIENCE = 1e-3, 300, 20


class DeepGraphInfomax(nn.Module):
    r"""Deep Graph Infomax, Velickovic et al. 2019: discriminate nodes from those of a graph with shuffled features.

    .. math::
        h = \mathrm{PReLU}(\hat A X W), \quad \tilde h = \mathrm{PReLU}(\hat A \tilde X W), \quad
        s = \sigma(\mathrm{mean}_i h_i), \quad
        \mathrm{loss} = \mathrm{mean}_i - \log \sigma(h_i^\top M s) - \log (1 - \sigma(\tilde h_i^\top M s))

    (arXiv:1809.10341). Node features are L1-normalised.
    """

    def __init__(self, shapes: Shapes, width: int) -> None:
        super().__init__()
        self.shapes = shapes
        self.linear = Linear(raw_node_width(shapes), width)
        self.activation = nn.PReLU()
        self.match = nn.Parameter(torch.empty(width, width))
        nn.init.xavier_uniform_(self.linear.weight)
        nn.init.xavier_uniform_(self.match)

    def forward(self, graph: GraphBatch, order: Tensor | None = None) -> Tensor:
        """Return the node embeddings [nodes, width]; with `order`, of the graph with node features permuted by it."""
        looped = add_remaining_self_loops(graph)
        x = raw_node_features(graph, self.shapes, self.match.dtype)
        z = self.linear(x / x.abs().sum(dim=1, keepdim=True).clamp_min(1e-12))
        z = z if order is None else z.index_select(0, order)
        embeddings: Tensor = self.activation(aggregate(looped, z, "sum", symmetric_weight(looped, z.dtype)))
        return embeddings

    def loss(self, graph: GraphBatch) -> Tensor:
        """Return the loss of one random permutation of the features."""
        true, shuffled = self(graph), self(graph, torch.randperm(graph.num_nodes))
        direction = self.match @ true.mean(dim=0).sigmoid()
        return F.softplus(-(true @ direction)).mean() + F.softplus(shuffled @ direction).mean()


def infomax_embeddings(
    graph: GraphBatch, shapes: Shapes, *, width: int = 128, epochs: int = EPOCHS, seed: int = 0
) -> Tensor:
    """Train Deep Graph Infomax and return the node embeddings [nodes, width].

    Early stopping on the training loss with a patience of 20 epochs; the best state is restored.
    """
    with compute_settings():
        seed_everything(seed)
        model = DeepGraphInfomax(shapes, width)
        optimiser = torch.optim.Adam(model.parameters(), lr=RATE)
        lowest, waited, best = float("inf"), 0, model.state_dict()
        for _ in range(epochs):
            optimiser.zero_grad()
            loss = model.loss(graph)
            loss.backward()
            if loss.item() < lowest:
                lowest, waited = loss.item(), 0
                best = {name: value.clone() for name, value in model.state_dict().items()}
            waited += 1
            if waited > PATIENCE:
                break
            optimiser.step()
        model.load_state_dict(best)
        with torch.no_grad():
            embeddings: Tensor = model(graph)
            return embeddings
