"""Frozen training rules and the one loop that follows them."""

from graphtrial.training.protocols import PROTOCOLS, Protocol
from graphtrial.training.rules import AnyRules, FoldRules, TrainingRules, rules_from

__all__ = ["PROTOCOLS", "AnyRules", "FoldRules", "Protocol", "TrainingRules", "rules_from"]
