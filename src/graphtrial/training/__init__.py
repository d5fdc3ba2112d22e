"""Frozen training rules and the one loop that follows them."""

from graphtrial.training.protocols import PROTOCOLS, Protocol
from graphtrial.training.rules import FoldRules, Rules, TrainingRules

__all__ = ["PROTOCOLS", "FoldRules", "Protocol", "Rules", "TrainingRules"]
