"""Construction of modules of other libraries for given data: widths, depth, degrees, edge features, inner layers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_type_hints

import torch
from torch import Tensor, nn

from graphtrial.core.errors import GraphTrialError, in_one_line
from graphtrial.nn.external.settings import (
    REQUIRED,
    Argument,
    Setting,
    constructor_arguments,
    find_settings,
    is_layer,
)
from graphtrial.nn.shapes import Shapes

WIDTHS = ("in_channels", "hidden_channels", "out_channels", "channels")
DEPTHS = ("num_layers", "depth")
FROM_DATA = ("deg", "edge_dim", "num_nodes")
BLOCK = ("batch_norm", "residual")
"""Settings of the block around a message-passing layer; arguments of the layer of these names keep their defaults."""

Inner = Literal["none", "GCNConv", "SAGEConv", "GINConv", "GINEConv", "GATv2Conv", "ResGatedGraphConv", "PNAConv"]
"""Layers of PyG inside another one, the argument `conv` of `GPSConv`."""
DEFAULT_INNER: Inner = "GINEConv"
MLP_INPUTS = {"GINConv": 1, "GINEConv": 1, "EdgeConv": 2}
"""Layers around an MLP `nn`, and its input in widths."""


@dataclass(frozen=True)
class Sizes:
    """What the arguments of a constructor are derived from; `edges`: edge states of the same width are passed."""

    shapes: Shapes
    width: int
    layers: int
    edges: bool


def filled(kind: type) -> tuple[str, ...]:
    """Return the arguments derived from the data and from width and depth, which are not set under their own name."""
    own = BLOCK if is_layer(kind) else DEPTHS  # `num_layers` of a layer is not the depth of the model
    return (*WIDTHS, *own, *FROM_DATA, "nn", "conv")


def inner_layers() -> tuple[str, ...]:
    """Return the allowed names of an inner layer."""
    return get_args(Inner)


def inner_class(name: str) -> type[nn.Module] | None:
    """Return the PyG class of an inner layer, None for "none"."""
    import torch_geometric.nn

    return None if name == "none" else getattr(torch_geometric.nn, name)


def construct(kind: type, sizes: Sizes, settings: Mapping[str, Any]) -> nn.Module:
    """Build a module; arguments equal to their defaults are left to the class."""
    declared = find_settings(kind, filled(kind))
    values = {
        name: setting.value(settings[name])
        for name, setting in declared.items()
        if name in settings
        and (settings[name] != setting.default or constructor_arguments(kind)[name].default is REQUIRED)
    }
    values |= {
        name: value
        for name, argument in constructor_arguments(kind).items()
        if name in filled(kind) and (value := _fill(kind, name, argument, sizes, settings)) is not REQUIRED
    }
    try:
        built: nn.Module = kind(**values)
    except GraphTrialError:
        raise
    except Exception as error:
        raise GraphTrialError(f"{kind.__name__} cannot be built with these settings: {in_one_line(error)}") from error
    return built


def _fill(kind: type, name: str, argument: Argument, sizes: Sizes, settings: Mapping[str, Any]) -> Any:
    """Return the value of an argument that is not a setting, `REQUIRED` to leave it out."""
    if name == "out_channels" and argument.default is None and _requires_inputs(kind):
        return REQUIRED  # node states of the hidden width, without a further map
    if name == "out_channels" and is_layer(kind) and settings.get("concat", False):
        return sizes.width // settings.get("heads", 1)
    if name in BLOCK:
        return REQUIRED
    if name in WIDTHS:
        return sizes.width
    if name in DEPTHS:
        return sizes.layers
    if name == "edge_dim":
        # a layer that adds edge states to node states, as GINE, takes them at its width without a linear map
        return sizes.width if sizes.edges and not (argument.default is None and needs_edges(kind)) else REQUIRED
    if name == "deg":
        return degree_tensor(sizes.shapes)
    if name == "num_nodes":
        if not sizes.shapes.num_nodes:
            raise GraphTrialError(f"{kind.__name__} takes `num_nodes`: it is for datasets of a single graph")
        return sizes.shapes.num_nodes
    if name == "conv":
        inner = inner_class(settings["conv"])
        return None if inner is None else construct(inner, sizes, default_settings(inner))
    return mlp(MLP_INPUTS[kind.__name__] * sizes.width, sizes.width)


def _requires_inputs(kind: type) -> bool:
    return constructor_arguments(kind).get("in_channels", Argument(int, None)).default is REQUIRED


def default_settings(kind: type) -> dict[str, Any]:
    """Return the defaults of all settings of a class."""
    declared: dict[str, Setting] = find_settings(kind, filled(kind))
    return {name: setting.default for name, setting in declared.items()}


def degree_tensor(shapes: Shapes) -> Tensor:
    """Return the degree histogram as PyG's PNA takes it, on the CPU also where a model is built on another device.

    Without data, when parameters are counted, all nodes have degree 1.
    """
    return torch.tensor(shapes.degree_histogram or (0, 1), dtype=torch.long, device="cpu")


def mlp(inputs: int, width: int) -> nn.Sequential:
    """Return the MLP inputs -> width -> width with ReLU."""
    return nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width))


def needs_edges(kind: type) -> bool:
    """Return whether a message-passing layer cannot do without edge states: its messages take a tensor of them."""
    try:
        return get_type_hints(kind.message).get("edge_attr") is Tensor  # type: ignore[attr-defined]
    except Exception:  # noqa: BLE001 - no `message`, or annotations that cannot be evaluated
        return False
