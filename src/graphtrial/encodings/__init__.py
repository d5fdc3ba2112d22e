"""Node features computed from structure, cached by content."""

from graphtrial.encodings.base import ENCODINGS, Encoding, encode

__all__ = ["ENCODINGS", "Encoding", "encode"]
