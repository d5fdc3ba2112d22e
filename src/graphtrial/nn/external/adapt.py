"""Adapter: a model whose settings are the annotated constructor arguments of a class of another library."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Literal

from torch import nn

from graphtrial.core.arguments import Depth, DropoutRate, Width
from graphtrial.core.errors import GraphTrialError
from graphtrial.nn.external.construct import (
    DEFAULT_INNER,
    DEPTHS,
    MLP_INPUTS,
    WIDTHS,
    filled,
    inner_layers,
    needs_edges,
)
from graphtrial.nn.external.inputs import Inputs
from graphtrial.nn.external.model import ExternalModel
from graphtrial.nn.external.settings import (
    DIVISORS,
    REQUIRED,
    Argument,
    Setting,
    constructor_arguments,
    find_settings,
    is_layer,
)
from graphtrial.nn.external.stack import ExternalStack
from graphtrial.nn.readout import Readout
from graphtrial.nn.shapes import Shapes

DEFAULT_LAYERS = 4


@functools.lru_cache(maxsize=512)
def adapt(kind: Any) -> type[nn.Module]:
    """Return a model around a class that takes no `shapes`, or the class itself if it takes no width of PyG's names.

    The model takes `shapes` and the settings `width` (in_channels, hidden_channels, channels), `layers` (num_layers,
    depth), `edge_features` where the class takes edge features, `readout`, and every other argument of the class that
    is a number, a text or a boolean, under its own name and with its default. A message-passing layer is stacked in
    residual blocks, with `batch_norm` and `residual`; a layer that takes `channels`, such as `GPSConv`, is stacked as
    it is.
    """
    arguments = constructor_arguments(kind)
    stacked = is_layer(kind)
    if not (set(WIDTHS) & set(arguments) or (stacked and kind.__name__ in MLP_INPUTS)):
        return kind  # type: ignore[no-any-return]
    inputs = Inputs.of(kind)
    repeated = not stacked and "channels" in arguments
    settings = {**_common_settings(arguments, stacked, repeated), **find_settings(kind, filled(kind))}
    if "conv" in arguments:
        settings["conv"] = Setting(Literal[inner_layers()], DEFAULT_INNER)
    if _takes_edges(kind, inputs, arguments):
        settings["edge_features"] = Setting(bool, default=False)
    settings["readout"] = Setting(Readout, "mean")
    _check(kind, arguments, settings)
    members: dict[str, Any] = {
        "__doc__": kind.__doc__,
        "__module__": __name__,
        "__signature__": _signature(settings),
        "kind": kind,
        "inputs": inputs,
        "width_divisor": next((name for name in DIVISORS if name in settings), None),
    }
    if stacked:
        return type(kind.__name__, (ExternalStack,), members)
    return type(kind.__name__, (ExternalModel,), {**members, "repeated": repeated})


def _common_settings(arguments: dict[str, Argument], stacked: bool, repeated: bool) -> dict[str, Setting]:
    settings = {"width": Setting(Width, None)}
    depths = [arguments[name].default for name in DEPTHS if name in arguments and not stacked]
    if stacked or repeated or depths:
        default = depths[0] if depths and isinstance(depths[0], int) else DEFAULT_LAYERS
        settings["layers"] = Setting(Depth, default)
    if stacked:
        settings["dropout"] = Setting(DropoutRate, 0.0)
        settings["batch_norm"] = settings["residual"] = Setting(bool, default=True)
    return settings


def _takes_edges(kind: type[nn.Module], inputs: Inputs, arguments: dict[str, Argument]) -> bool:
    if not getattr(kind, "supports_edge_attr", True):  # the forward of PyG's BasicGNN takes them for every layer
        return False
    if inputs.passes_on and "conv" in arguments:
        return True
    return "edge_attr" in inputs.names and (not is_layer(kind) or "edge_dim" in arguments or needs_edges(kind))


def _check(kind: type[nn.Module], arguments: dict[str, Argument], settings: dict[str, Setting]) -> None:
    clashing = sorted({"shapes", "width", "layers", "edge_features", "readout"} & set(arguments))
    if clashing:
        raise GraphTrialError(
            f"{kind.__name__} has an argument `{clashing[0]}`, which is a setting of the model around it; write a "
            "model around it, as docs/add-a-model.md shows"
        )
    covered = {*settings, *filled(kind)} - ({"nn"} if kind.__name__ not in MLP_INPUTS else set())
    missing = [name for name, one in arguments.items() if one.default is REQUIRED and name not in covered]
    if missing:
        raise GraphTrialError(
            f"`{missing[0]}` of {kind.__name__} has no default and is no number, text or boolean; write a model around "
            "it, as docs/add-a-model.md shows"
        )


def _signature(settings: dict[str, Setting]) -> inspect.Signature:
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Signature(
        [
            inspect.Parameter("shapes", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Shapes),
            *(
                inspect.Parameter(
                    name, keyword, default=REQUIRED if one.default is None else one.default, annotation=one.hint
                )
                for name, one in settings.items()
            ),
        ]
    )
