"""Variational graph auto-encoder (VGAE)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from graphtrial.core.arguments import NonNegativeFloat, Width
from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.graphs.column import PAIRS
from graphtrial.graphs.self_loops import add_remaining_self_loops
from graphtrial.nn.models.gcn_direct import Propagation
from graphtrial.nn.raw_features import raw_node_features, raw_node_width, require_level
from graphtrial.nn.registry import MODELS
from graphtrial.nn.shapes import Shapes


@MODELS.register("vgae", title="VGAE")
class VGAE(nn.Module):
    r"""Variational graph auto-encoder with inner-product decoder, Kipf and Welling 2016.

    .. math::
        H = \mathrm{ReLU}(\hat A X W_0 + b_0), \quad \mu = \hat A H W_\mu + b_\mu, \quad
        \log \sigma = \hat A H W_\sigma + b_\sigma, \quad
        z_i \sim \mathcal N(\mu_i, \sigma_i^2), \quad s_{ij} = z_i \cdot z_j

    (arXiv:1611.07308). In evaluation z = mu. `kl` is the weight of the KL divergence from the standard normal prior,
    averaged over nodes; Wiki-CS uses 0. `width` is the hidden dimension, `latent` that of z. Returns [pairs, 1].
    """

    levels = ("pair",)

    def __init__(self, shapes: Shapes, width: int, latent: Width = 16, kl: NonNegativeFloat = 0.0) -> None:
        super().__init__()
        require_level("vgae", shapes, self.levels)
        if shapes.outputs != 1:
            raise GraphTrialError("vgae has one output per pair: use it for link prediction")
        self.shapes = shapes
        self.kl = kl
        self.hidden = Propagation(raw_node_width(shapes), width)
        self.mean = Propagation(width, latent)
        self.log_std = Propagation(width, latent)
        self.divergence: Tensor | float = 0.0

    def forward(self, graph: GraphBatch) -> Tensor:
        pairs = graph.columns.get(PAIRS)
        if pairs is None:
            raise GraphTrialError(f"this model scores pairs of nodes, but the batch has no column '{PAIRS}'")
        z = self.encode(graph)
        ends = z.index_select(0, pairs.flatten()).reshape(len(pairs), 2, -1)
        return ends.prod(dim=1).sum(dim=1, keepdim=True)

    def encode(self, graph: GraphBatch) -> Tensor:
        """Return the latent vector z of each node, [nodes, latent]."""
        looped = add_remaining_self_loops(graph)
        x = raw_node_features(graph, self.shapes, next(self.parameters()).dtype)
        hidden = self.hidden(looped, x, features=True).relu()
        mean: Tensor = self.mean(looped, hidden)
        if not self.training:
            return mean
        log_std: Tensor = self.log_std(looped, hidden)
        log_std = log_std.clamp(max=10.0)  # avoids overflow of the standard deviation
        if self.kl:
            terms = 1 + 2 * log_std - mean.square() - (2 * log_std).exp()
            self.divergence = -0.5 * terms.sum(dim=1).mean()
        return mean + torch.randn_like(mean) * log_std.exp()

    def extra_loss(self) -> Tensor | float:
        """Return the weighted KL divergence of the last forward pass."""
        return self.kl * self.divergence
