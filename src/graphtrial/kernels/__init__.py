"""Graph kernels as scikit-learn estimators over graph sets."""

from importlib.util import find_spec
from typing import Any

from graphtrial.core.errors import missing_extra
from graphtrial.core.plugins.imports import builtin_classes, class_attribute

if find_spec("sklearn") is None:
    raise missing_extra("a graph kernel", "scikit-learn", "kernels")

from graphtrial.kernels.base import KERNELS, GraphKernel

__all__ = ["KERNELS", "GraphKernel"]


def __getattr__(name: str) -> Any:
    return class_attribute(__name__, KERNELS, name)


def __dir__() -> list[str]:
    return [*__all__, *builtin_classes(KERNELS)]
