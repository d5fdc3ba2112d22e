"""Protocols: frozen, versioned documents that say how a model is trained and tested."""

from graphtrial.training.protocols.base import PROTOCOLS, Protocol

__all__ = ["PROTOCOLS", "Protocol"]
