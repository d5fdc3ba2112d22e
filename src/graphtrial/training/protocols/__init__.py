"""Protocols: frozen, versioned documents that say how a model is trained and tested."""

from graphtrial.training.protocols.base import PROTOCOLS, FoldRules, Protocol, Rules, rules_from
from graphtrial.training.protocols.svm import SvmRules

__all__ = ["PROTOCOLS", "FoldRules", "Protocol", "Rules", "SvmRules", "rules_from"]
