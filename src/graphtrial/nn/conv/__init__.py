"""Layers, one per file. A layer is a formula: no norm, no residual link, no dataset, no loss."""

from graphtrial.nn.conv.base import Conv

__all__ = ["Conv"]
