"""Kinds of trials: training of a model, one fold of a graph kernel, a support vector machine on features.

The only module that dispatches on the type of rules. A new kind of trial is a subclass of `TrialKind` that is listed
here.
"""

from __future__ import annotations

from typing import Any

from graphtrial.core.arguments import check_value
from graphtrial.core.errors import GraphTrialError, short_repr
from graphtrial.core.rules import Rules
from graphtrial.trials.kinds.base import TrialKind
from graphtrial.trials.kinds.feature_fit import FeatureFit
from graphtrial.trials.kinds.kernel_fold import KernelFold
from graphtrial.trials.kinds.training import Training

KINDS: tuple[type[TrialKind[Any]], ...] = (Training, KernelFold, FeatureFit)
_KIND_OF: dict[type[Any], type[TrialKind[Any]]] = {rules: kind for kind in KINDS for rules in kind.rules_types}
_RULES: dict[str | None, type[Any]] = {getattr(rules, "kind", None): rules for rules in _KIND_OF}
"""Classes of rules by the value of `kind` in their plain form; the first class has none."""


def kind_of(rules: Rules) -> TrialKind[Any]:
    """Return the kind of trial of these rules."""
    return _KIND_OF[type(rules)](rules)


def rules_from(values: Any) -> Rules:
    """Build rules of any kind from the values of `to_dict`."""
    given = check_value(values, dict[str, Any], "the rules of a trial")
    kind = check_value(given.get("kind"), str | None, "the kind of the rules")
    if kind not in _RULES:
        raise GraphTrialError(f"no rules of the kind {short_repr(kind)}; there are {', '.join(filter(None, _RULES))}")
    rules: Rules = _RULES[kind].from_stored(given)
    return rules


__all__ = ["KINDS", "FeatureFit", "KernelFold", "Training", "TrialKind", "kind_of", "rules_from"]
