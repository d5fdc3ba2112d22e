"""Graph kernels as scikit-learn estimators over graph sets."""

from importlib.util import find_spec

from graphtrial.core.errors import missing_extra

if find_spec("sklearn") is None:
    raise missing_extra("a graph kernel", "scikit-learn", "kernels")

from graphtrial.kernels.base import KERNELS, GraphKernel

__all__ = ["KERNELS", "GraphKernel"]
