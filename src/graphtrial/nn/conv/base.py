"""Base class of message-passing layers."""

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
    """Base class of message-passing layers of constant width.

    Constructor arguments after `width` are options of the layer. Class attributes are the defaults with which `Block`
    and `GNN` make a model of it; settings of the model override them.
    """

    edge_state: ClassVar[bool] = False
    """Whether the layer reads and updates edge states."""
    edge_input: bool = False
    """Whether the layer reads edge states and leaves them as they are; set by a constructor with `edge_features`."""
    batch_norm: ClassVar[bool] = True
    residual: ClassVar[bool] = True
    readout: ClassVar[Readout] = "mean"
    activation: ClassVar[Activation] = "relu"
    norm_last: ClassVar[bool] = False
    """Normalise after the activation instead of before it."""
    dropout_first: ClassVar[bool] = False
    """Dropout on the input of the layer instead of on the output of the block."""
    dropout_before_residual: ClassVar[bool] = False
    """Dropout after the activation, before the skip connection."""
    dropout_inside: ClassVar[bool] = False
    """No dropout in the block: the layer applies it itself and takes the model's `dropout` as an argument."""
    layer_heads: ClassVar[bool] = False
    """One linear head per depth, the input included, with logits summed; otherwise one MLP after the last layer."""

    options: ClassVar[tuple[str, ...]] = ()
    """Boolean options of `GNN` that apply to this layer, false by default."""

    implied: ClassVar[Mapping[str, Mapping[str, Any]]] = MappingProxyType({})
    """Defaults of other settings that an option changes where it is true."""

    last_layer: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    """Settings that differ in the last layer of a stack."""

    width_divisor: ClassVar[str | None] = None
    """Name of a setting that must divide the width, such as `heads`."""

    @abstractmethod
    def forward(self, graph: GraphBatch, x: Tensor, e: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """Return the updated node states [nodes, width] and edge states [edges, width] (unchanged if not used)."""

    def finish(self, x: Tensor) -> Tensor:
        """Post-process node states after the skip connection, before dropout; the identity by default."""
        return x
