"""Frozen training rules and the one loop that follows them."""

from graphtrial.training.protocols import (
    PROTOCOLS,
    AnyRules,
    FeatureSvmRules,
    FoldRules,
    Protocol,
    Rules,
    SvmRules,
    rules_from,
)

__all__ = ["PROTOCOLS", "AnyRules", "FeatureSvmRules", "FoldRules", "Protocol", "Rules", "SvmRules", "rules_from"]
