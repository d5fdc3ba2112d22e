"""Models by name: what they are called, which settings they take, how they are built."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

from torch import nn

from graphtrial.errors import GraphTrialError
from graphtrial.registry import Registry, is_subclass
from graphtrial.spec import declared_arguments, reject_unknown_keys

if TYPE_CHECKING:
    from graphtrial.nn.shapes import Shapes

MODELS: Registry[type[nn.Module]] = Registry(
    "model",
    "graphtrial.nn.conv",
    "graphtrial.nn.whole",
    fits=lambda thing: is_subclass(thing, nn.Module) if isinstance(thing, type) else _is_function(thing),
    wanted="a class of modules, or a function that returns a module",
)
"""Layers (`Conv` subclasses), which are dressed up into a `GNN`, and whole models that take `Shapes` and settings."""

FROM_THE_MODEL = ("width", "dropout")
"""Arguments that a layer may take and that are settings of the whole model."""


def model_settings(name: str) -> dict[str, Any]:
    """Return every setting of a model with its default; `None` for one that has none and must be given."""
    from graphtrial.nn.conv.base import Conv

    kind = MODELS.get(name)
    declared = {key: None if p.default is p.empty else p.default for key, p in declared_arguments(kind).items()}
    if not (isinstance(kind, type) and issubclass(kind, Conv)):
        return _whole_model_settings(name, declared)
    dress = {
        "width": None,
        "layers": 4,
        "dropout": 0.0,
        "batch_norm": kind.batch_norm,
        "layer_norm": False,
        "graph_norm": False,
        "residual": kind.residual,
        "self_loops": False,
        "gru": False,
        "readout": kind.readout,
        "layer_heads": kind.layer_heads,
        **dict.fromkeys(kind.options, False),
        **({"edge_features": False} if kind.edge_state else {}),
    }
    own = {key: value for key, value in declared.items() if key not in FROM_THE_MODEL}
    return {**dress, **own}


def implied_settings(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the defaults that change because of the switches that are on in `given`."""
    implied: Mapping[str, Mapping[str, Any]] = getattr(MODELS.get(name), "implied", {})
    return {key: value for switch, values in implied.items() if given.get(switch) for key, value in values.items()}


def setting_choices(name: str) -> dict[str, tuple[str, ...]]:
    """Return the values that a setting is confined to, for each setting declared as a `Literal`."""
    from graphtrial.nn.conv.base import Conv
    from graphtrial.nn.readout import Readout

    kind = MODELS.get(name)
    try:
        hints = get_type_hints(kind.__init__ if isinstance(kind, type) else kind)
    except NameError:  # names imported for type checkers alone
        hints = {}
    if isinstance(kind, type) and issubclass(kind, Conv):
        hints["readout"] = Readout
    return {key: get_args(hint) for key, hint in hints.items() if get_origin(hint) is Literal}


def resolve_settings(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return `given` completed by defaults; an unknown, missing or senseless setting is an error.

    Equal settings become equal values, 0 and 0.0 too, because a trial's identity is the hash of them.
    """
    known = model_settings(name)
    reject_unknown_keys(given, known, f"model '{name}'")
    settings = {**known, **implied_settings(name, given), **given}
    choices = setting_choices(name)
    for key, default in known.items():
        value = settings[key]
        if default is not None and not _same_kind(value, default):
            raise GraphTrialError(f"{key} of model '{name}' is {default!r} by default; {value!r} is of another kind")
        if value is None:
            raise GraphTrialError(f"model '{name}' needs a {key}, for example --set {key}=64 or --budget 100k")
        if key in ("width", "layers") and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
            raise GraphTrialError(f"{key} of model '{name}' must be a whole number of at least 1, not {value!r}")
        if key in choices and value not in choices[key]:
            raise GraphTrialError(f"{key} of model '{name}' cannot be {value!r}: use {', '.join(choices[key])}")
        if isinstance(default, float):
            settings[key] = float(value)
    if settings.get("width", 0) % width_step(name, settings):
        step = width_step(name, settings)
        raise GraphTrialError(f"width of model '{name}' must be a multiple of {step}, not {settings['width']}")
    if not 0 <= settings.get("dropout", 0) < 1:
        raise GraphTrialError(f"dropout of model '{name}' must be at least 0 and below 1, not {settings['dropout']!r}")
    return settings


def width_step(name: str, settings: dict[str, Any]) -> int:
    """Return the number of which the width of a model must be a multiple."""
    divisor = getattr(MODELS.get(name), "width_divisor", None)
    return {**model_settings(name), **settings}[divisor] if divisor else 1


def build_model(name: str, shapes: Shapes, settings: dict[str, Any]) -> nn.Module:
    """Build a model for data of these shapes."""
    from graphtrial.nn.block import Dress
    from graphtrial.nn.conv.base import Conv
    from graphtrial.nn.model import GNN

    settings = resolve_settings(name, settings)
    kind = MODELS.get(name)
    if not (isinstance(kind, type) and issubclass(kind, Conv)):
        built: Any = kind(shapes, **settings)
        if not isinstance(built, nn.Module):
            raise GraphTrialError(f"model '{name}' must be a torch.nn.Module, not {type(built).__name__}")
        return built
    declared = declared_arguments(kind)
    given = {key: settings[key] if key in FROM_THE_MODEL else settings.pop(key) for key in declared}
    layers = settings.pop("layers") - settings.get("raw_input", False)
    dress = Dress(**{field.name: settings.pop(field.name) for field in fields(Dress)})
    convs = [kind(**given) for _ in range(layers - 1)] + [kind(**{**given, **kind.last_layer})][:layers]
    return GNN(shapes, convs, dress, **settings)


def count_parameters(model: nn.Module) -> int:
    """Return the number of trainable numbers of a model."""
    return sum(p.numel() for p in model.parameters() if p.requires_grad)


def _is_function(thing: Any) -> bool:
    """Tell whether a thing can be called with arguments that it declares; many functions written in C declare none."""
    try:
        return callable(thing) and bool(inspect.signature(thing))
    except (TypeError, ValueError):
        return False


def _whole_model_settings(name: str, declared: dict[str, Any]) -> dict[str, Any]:
    if "shapes" not in declared:
        raise GraphTrialError(
            f"model '{name}' takes no argument `shapes`, so it cannot know the sizes of the data; a model of another "
            "library needs a few lines around it, which docs/add-a-model.md shows"
        )
    settings = {key: value for key, value in declared.items() if key != "shapes"}
    for key, value in settings.items():
        if value is not None and not isinstance(value, bool | int | float | str):
            raise GraphTrialError(
                f"{key} of model '{name}' is {value!r} by default; a setting is a number, a text, true or false"
            )
    return settings


def _same_kind(value: Any, default: Any) -> bool:
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(default, bool) and isinstance(value, bool)
    if isinstance(default, float):
        return isinstance(value, int | float)
    return isinstance(value, type(default))
