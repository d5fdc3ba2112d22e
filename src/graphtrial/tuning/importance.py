"""Which parameters of a search mattered: the importance that Optuna computes by functional ANOVA."""

from __future__ import annotations

from collections.abc import Sequence

from graphtrial.core.errors import missing_extra
from graphtrial.tuning.samplers.base import Observation
from graphtrial.tuning.samplers.optuna_trials import frozen_trial, import_optuna
from graphtrial.tuning.space import Point, Space

LEAST = 8
"""Smallest number of configurations with a score from which an importance is computed."""


def importances(space: Space, points: Sequence[Point], scores: Sequence[float]) -> dict[str, float]:
    """Return the share of each parameter in the variance of the scores, largest first.

    By fANOVA (Hutter et al., ICML 2014): random forests of Optuna with a fixed seed, which need scikit-learn. Only
    parameters that are active in every configuration have one. Empty with fewer than 8 configurations, or where all
    scores are the same.
    """
    if len(scores) < LEAST or len(set(scores)) < 2:
        return {}
    optuna = import_optuna("the importance of parameters")
    try:
        import sklearn  # noqa: F401
    except ImportError:
        raise missing_extra("the importance of parameters", "scikit-learn", "tune") from None
    study = optuna.create_study(direction="minimize")
    for point, score in zip(points, scores, strict=True):
        active = {
            name: value for name, value in point.items() if name in _names(space) and space[name].is_active(point)
        }
        study.add_trial(frozen_trial(optuna, space, Observation(active, score)))
    evaluator = optuna.importance.FanovaImportanceEvaluator(seed=0)
    importance_of: dict[str, float] = optuna.importance.get_param_importances(study, evaluator=evaluator)
    return importance_of


def _names(space: Space) -> set[str]:
    return {parameter.name for parameter in space}
