"""GPS layer: message passing and global attention in parallel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from torch import Tensor, nn

from graphtrial.graphs import GraphBatch
from graphtrial.nn.gin_step import GINStep
from graphtrial.nn.graphgps.activation import Activation, make_activation
from graphtrial.nn.graphgps.feed_forward import feed_forward
from graphtrial.nn.graphgps.gated import GatedLayer
from graphtrial.nn.graphgps.self_attention import SelfAttention
from graphtrial.nn.graphgps.stable_gine import StableGINE
from graphtrial.nn.layers import BatchNorm, Dropout, Linear

Local = Literal["gatedgcn", "gine", "none"]


def gine_step(width: int, activation: Activation, dropout: float | None = None) -> GINStep:
    """Return GINE with epsilon 0, an MLP of two layers, with dropout after each if given, and edge states as wide."""
    return GINStep(gine_mlp(width, activation, dropout), nn.Identity(), learn_epsilon=False)


def gine_mlp(width: int, activation: Activation, dropout: float | None = None) -> nn.Module:
    """Return an MLP of two layers, with dropout after each if given."""
    drop = [] if dropout is None else [dropout]
    return nn.Sequential(
        *(Linear(width, width), make_activation(activation), *map(Dropout, drop)),
        *(Linear(width, width), *map(Dropout, drop)),
    )


class GPSLayer(nn.Module):
    r"""GPS layer, Rampášek et al. 2022 (arXiv:2205.12454), as released.

    .. math::
        h^{loc} &= \mathrm{BN}(h + \mathrm{drop}(\mathrm{MPNN}(h, e))), \qquad
        h^{att} = \mathrm{BN}(h + \mathrm{drop}(\mathrm{MHA}(h))) \\
        h' &= h^{loc} + h^{att}, \qquad out = \mathrm{BN}(h' + \mathrm{FFN}(h'))

    A GatedGCN has a skip connection and dropout of its own and updates e. Without message passing its batch norm is
    still there, idle, as in the released counts. x: [nodes, width], e: [edges or 1, width] -> the same shapes.
    """

    def __init__(
        self,
        width: int,
        *,
        heads: int,
        local: Local,
        attention: bool,
        dropout: float,
        attention_dropout: float,
        activation: Activation,
        stable: bool,
        last: bool,
    ) -> None:
        super().__init__()
        self.local: GatedLayer | GINStep | StableGINE | None = None
        if local == "gatedgcn":
            self.local = GatedLayer(width, dropout, activation, stable=stable, last=last)
        elif local == "gine":
            self.local = StableGINE(gine_mlp(width, activation), width) if stable else gine_step(width, activation)
        self.attention = SelfAttention(width, heads, attention_dropout) if attention else None
        self.local_norm = BatchNorm(width)
        self.attention_norm = BatchNorm(width) if attention else None
        self.dropout = Dropout(dropout)
        self.feed_forward = feed_forward(width, activation, dropout)
        self.norm = BatchNorm(width)

    def forward(
        self,
        graph: GraphBatch,
        x: Tensor,
        e: Tensor,
        position: Tensor | None = None,
        biases: Sequence[Tensor] | None = None,
    ) -> tuple[Tensor, Tensor]:
        parts: list[Tensor] = []
        if isinstance(self.local, GatedLayer):
            new, e = self.local(graph, x, e, position)
            parts.append(self.local_norm(new))
        elif isinstance(self.local, StableGINE):
            parts.append(self.local_norm(x + self.dropout(self.local(graph, x, e, position))))
        elif self.local is not None:
            parts.append(self.local_norm(x + self.dropout(self.local(graph, x, e))))
        if self.attention is not None and self.attention_norm is not None:
            parts.append(self.attention_norm(x + self.dropout(self.attention(graph, x, biases))))
        h = sum(parts[1:], parts[0])
        return self.norm(h + self.feed_forward(h)), e
