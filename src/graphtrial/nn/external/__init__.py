"""Adapters of model and layer classes of other libraries, such as PyG, by what their constructors take."""

from graphtrial.nn.external.adapt import adapt

__all__ = ["adapt"]
