"""Graph kernels as scikit-learn estimators over graph sets."""

from graphtrial.kernels.base import KERNELS, GraphKernel

__all__ = ["KERNELS", "GraphKernel"]
