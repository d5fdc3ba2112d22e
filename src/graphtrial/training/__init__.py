"""Frozen training rules and the one loop that follows them."""

from graphtrial.training.protocols import PROTOCOLS, FoldRules, Protocol, Rules, SvmRules, rules_from

__all__ = ["PROTOCOLS", "FoldRules", "Protocol", "Rules", "SvmRules", "rules_from"]
