"""Node features computed from structure, cached by content."""

from typing import Any

from graphtrial.core.plugins.imports import builtin_classes, class_attribute
from graphtrial.encodings.base import ENCODINGS, Encoding, encode, encoding_settings

__all__ = ["ENCODINGS", "Encoding", "encode", "encoding_settings"]


def __getattr__(name: str) -> Any:
    return class_attribute(__name__, ENCODINGS, name)


def __dir__() -> list[str]:
    return [*__all__, *builtin_classes(ENCODINGS)]
