"""Models: encoder, blocks, readout and head, and the registry of layers they are built from."""

from typing import Any

from graphtrial.core.plugins.imports import builtin_classes, class_attribute
from graphtrial.nn.budget import parameter_count, parse_budget, width_for_budget
from graphtrial.nn.registry import (
    MODELS,
    build_model,
    count_parameters,
    implied_settings,
    model_settings,
    resolve_settings,
    width_step,
)
from graphtrial.nn.shapes import Shapes

__all__ = [
    "MODELS",
    "Shapes",
    "build_model",
    "count_parameters",
    "implied_settings",
    "model_settings",
    "parameter_count",
    "parse_budget",
    "resolve_settings",
    "width_for_budget",
    "width_step",
]


def __getattr__(name: str) -> Any:
    kind = class_attribute(__name__, MODELS, name)
    from graphtrial.nn.stacked import model_class  # here, because the layers import this package

    return model_class(kind)


def __dir__() -> list[str]:
    return [*__all__, *builtin_classes(MODELS)]
