"""Protocols: frozen, versioned documents that say how a model is trained and tested."""

from graphtrial.training.protocols.base import PROTOCOLS, AnyRules, FoldRules, Protocol, Rules, rules_from
from graphtrial.training.protocols.features import FeatureSvmRules
from graphtrial.training.protocols.svm import SvmRules

__all__ = ["PROTOCOLS", "AnyRules", "FeatureSvmRules", "FoldRules", "Protocol", "Rules", "SvmRules", "rules_from"]
