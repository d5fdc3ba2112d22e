"""Frozen training rules and the one loop that follows them."""

from graphtrial.core.rules import Rules
from graphtrial.training.protocols import PROTOCOLS, Protocol
from graphtrial.training.rules import TrainingRules

__all__ = ["PROTOCOLS", "Protocol", "Rules", "TrainingRules"]
