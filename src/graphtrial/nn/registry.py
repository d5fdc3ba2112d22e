"""Registry of models: their names, settings and construction."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from torch import nn

from graphtrial.core.arguments import Depth, DropoutRate, Width, check_value
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.registry import Registry, is_subclass
from graphtrial.core.signatures import declared_arguments, declared_hints
from graphtrial.core.spec import reject_unknown_keys, without_defaults

if TYPE_CHECKING:
    from graphtrial.nn.block import BlockConfig
    from graphtrial.nn.conv.base import Conv
    from graphtrial.nn.shapes import Shapes

MODELS: Registry[type[nn.Module]] = Registry(
    "model",
    "graphtrial.nn.conv",
    "graphtrial.nn.models",
    fits=lambda thing: is_subclass(thing, nn.Module) if isinstance(thing, type) else _is_function(thing),
    wanted="a class of modules, or a function that returns a module",
)
"""Layers (`Conv` subclasses), which `GNN` stacks into a model, and whole models that take `Shapes` and settings."""

FROM_THE_MODEL = ("width", "dropout", "edge_features")
"""Constructor arguments of a layer that are settings of the whole model."""

USUAL: dict[str, Any] = {"width": Width, "layers": Depth, "dropout": DropoutRate}
"""Ranges of settings common to all models, where a signature says only int or float."""


def model_kind(name: str) -> Any:
    """Return the class or function of a model; a class of another library, which takes no `shapes`, is adapted."""
    from graphtrial.nn.conv.base import Conv

    kind: Any = MODELS.get(name)
    if not isinstance(kind, type) or issubclass(kind, Conv) or "shapes" in declared_arguments(kind):
        return kind
    from graphtrial.nn.external import adapt

    outside: Any = kind
    return adapt(outside)


def model_settings(name: str) -> dict[str, Any]:
    """Return every setting of a model with its default; None for a required one."""
    from graphtrial.nn.conv.base import Conv

    kind = model_kind(name)
    declared = {key: None if p.default is p.empty else p.default for key, p in declared_arguments(kind).items()}
    if not (isinstance(kind, type) and issubclass(kind, Conv)):
        return _whole_model_settings(name, declared)
    common = {
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
        **({"edge_features": False} if kind.edge_state or "edge_features" in declared else {}),
    }
    layer = {key: value for key, value in declared.items() if key not in FROM_THE_MODEL}
    return {**common, **layer}


def implied_settings(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the defaults that are changed by the boolean settings that are true in `given`."""
    implied: Mapping[str, Mapping[str, Any]] = getattr(model_kind(name), "implied", {})
    return {key: value for switch, values in implied.items() if given.get(switch) for key, value in values.items()}


def setting_choices(name: str) -> dict[str, tuple[str, ...]]:
    """Return the allowed values of each setting that is declared as a `Literal`."""
    return {key: get_args(hint) for key, hint in setting_hints(name).items() if get_origin(hint) is Literal}


def setting_hints(name: str) -> dict[str, Any]:
    """Return the declared type and range of every setting of a model."""
    from graphtrial.nn.block import BlockConfig
    from graphtrial.nn.conv.base import Conv
    from graphtrial.nn.stacked import GNN

    kind = model_kind(name)
    hints = declared_hints(kind)
    if isinstance(kind, type) and issubclass(kind, Conv):
        hints = {**hints, "layers": Depth, **declared_hints(GNN), **declared_hints(BlockConfig)}
    plain = {key for key, hint in hints.items() if hint in (int, float, Any)}
    return {key: USUAL[key] if key in USUAL and key in plain else hints[key] for key in model_settings(name)}


def resolve_settings(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return `given` completed by defaults; an unknown, missing or invalid setting is an error.

    Equal settings become equal values, 0 and 0.0 too, because a trial's identity is their hash.
    """
    defaults = model_settings(name)
    reject_unknown_keys(given, defaults, f"model '{name}'")
    settings = {**defaults, **implied_settings(name, given), **given}
    for key, hint in setting_hints(name).items():
        if settings[key] is None and defaults[key] is None:
            raise GraphTrialError(f"model '{name}' needs a {key}, for example --set {key}=64 or --budget 100k")
        settings[key] = check_value(settings[key], hint, f"{key} of model '{name}'")
    step = width_step(name, settings)
    if settings.get("width", 0) % step:
        raise GraphTrialError(f"width of model '{name}' must be a multiple of {step}, not {settings['width']}")
    return settings


def differing_settings(name: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that differ from declared and implied defaults, by which `resolve_settings` restores all."""
    declared = model_settings(name)
    given = without_defaults(settings, declared)
    implied = implied_settings(name, given)
    switches = getattr(model_kind(name), "implied", {})
    short = without_defaults(settings, {**declared, **implied})
    return {key: value for key, value in settings.items() if key in short or (key in switches and key in given)}


def width_step(name: str, settings: dict[str, Any]) -> int:
    """Return the step of valid widths, such as the number of attention heads; 1 where that setting is 0."""
    divisor = getattr(model_kind(name), "width_divisor", None)
    if divisor is None:
        return 1
    value = {**model_settings(name), **settings}[divisor]
    steps: Mapping[Any, int] | None = getattr(model_kind(name), "width_divisors", None)
    if steps is not None:  # the steps of a setting that is no number; 1 for all other values
        return steps.get(value, 1)
    return max(1, int(check_value(value, setting_hints(name)[divisor], f"{divisor} of model '{name}'")))


def build_model(name: str, shapes: Shapes, settings: dict[str, Any]) -> nn.Module:
    """Build a model for data of these shapes."""
    from graphtrial.nn.conv.base import Conv
    from graphtrial.nn.stacked import GNN

    kind = model_kind(name)
    if isinstance(kind, type) and issubclass(kind, Conv):
        convs, block, rest = stack_arguments(name, settings)
        return GNN(shapes, convs, block, **rest)
    built: Any = kind(shapes, **resolve_settings(name, settings))
    if not isinstance(built, nn.Module):
        raise GraphTrialError(f"model '{name}' must be a torch.nn.Module, not {type(built).__name__}")
    return built


def stack_arguments(name: str, settings: dict[str, Any]) -> tuple[list[Conv], BlockConfig, dict[str, Any]]:
    """Return the arguments of a `GNN` of a registered layer: the layers, the options of a block, the other settings."""
    from graphtrial.nn.block import BlockConfig

    kind = model_kind(name)
    settings = resolve_settings(name, settings)
    declared = declared_arguments(kind)
    arguments = {key: settings[key] if key in FROM_THE_MODEL else settings.pop(key) for key in declared}
    layers = settings.pop("layers") - settings.get("raw_input", False)
    block = BlockConfig(**{field.name: settings.pop(field.name) for field in fields(BlockConfig)})
    convs = [kind(**arguments) for _ in range(layers - 1)] + [kind(**{**arguments, **kind.last_layer})][:layers]
    return convs, block, settings


def count_parameters(model: nn.Module) -> int:
    """Return the number of trainable parameters of a model."""
    return sum(p.numel() for p in model.parameters() if p.requires_grad)


def _is_function(thing: Any) -> bool:
    """Return whether a callable has a signature; many functions written in C have none."""
    try:
        return callable(thing) and bool(inspect.signature(thing))
    except (TypeError, ValueError):
        return False


def _whole_model_settings(name: str, declared: dict[str, Any]) -> dict[str, Any]:
    if "shapes" not in declared:
        raise GraphTrialError(
            f"model '{name}' takes no argument `shapes`, and none of PyG's in_channels, hidden_channels or channels, "
            "so it cannot know the sizes of the data; it needs a few lines around it, which docs/add-a-model.md shows"
        )
    settings = {key: value for key, value in declared.items() if key != "shapes"}
    for key, value in settings.items():
        if value is not None and not isinstance(value, bool | int | float | str):
            raise GraphTrialError(
                f"{key} of model '{name}' is {value!r} by default; a setting is a number, a text, true or false"
            )
    return settings
