"""Message-passing layers, one per file, without norm, skip connection or dropout, which `Block` adds."""

from graphtrial.nn.conv.base import Conv

__all__ = ["Conv"]
