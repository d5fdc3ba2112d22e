"""The contract of a layer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Literal

from torch import Tensor, nn

from graphtrial.graphs import GraphBatch
from graphtrial.nn.readout import Readout

Activation = Literal["relu", "elu"]


class Conv(nn.Module, ABC):
    """One message-passing step of constant width.

    A subclass declares its own options as constructor arguments after `width`. The class attributes say how the papers
    dress the layer up into a model; each can be overridden when the model is built.
    """

    edge_state: ClassVar[bool] = False
    """The layer reads and updates a vector per edge."""
    batch_norm: ClassVar[bool] = True
    residual: ClassVar[bool] = True
    readout: ClassVar[Readout] = "mean"
    activation: ClassVar[Activation] = "relu"
    norm_last: ClassVar[bool] = False
    """Batch norm comes after the activation instead of before it."""
    dropout_first: ClassVar[bool] = False
    """Dropout acts on what goes into the layer instead of on what comes out of the block."""
    dropout_before_residual: ClassVar[bool] = False
    """Dropout acts on the activation, before the input is added."""
    dropout_inside: ClassVar[bool] = False
    """Only the layer itself drops, and the block nothing. A layer that takes `dropout` is built with the model's."""
    layer_heads: ClassVar[bool] = False
    """One linear head per depth, the input included, summed up; otherwise one MLP after the last layer."""

    options: ClassVar[tuple[str, ...]] = ()
    """Switches of the model (see `GNN`) that make sense for this layer, off by default."""

    implied: ClassVar[Mapping[str, Mapping[str, Any]]] = MappingProxyType({})
    """Defaults of other settings that a switch of the model changes where it is on."""

    last_layer: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    """Settings that the last layer of a stack has instead of those of the others."""

    width_divisor: ClassVar[str | None] = None
    """The name of a setting that must divide the width."""

    @abstractmethod
    def forward(self, graph: GraphBatch, x: Tensor, e: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """Return the new node vectors [nodes, width] and edge vectors [edges, width] (unchanged if not used)."""

    def finish(self, x: Tensor) -> Tensor:
        """Return the block's node vectors after the residual link, before dropout, as the layer wants them at last."""
        return x
