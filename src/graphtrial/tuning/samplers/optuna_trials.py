"""Spaces and results of a search as Optuna knows them; Optuna is optional (extra `tune`)."""

from __future__ import annotations

from typing import Any

from graphtrial.core.errors import missing_extra
from graphtrial.tuning.parameter import Choice, FloatRange, IntRange, Parameter, is_among
from graphtrial.tuning.samplers.base import Observation
from graphtrial.tuning.space import Space


def import_optuna(subject: str) -> Any:
    """Import Optuna, which logs only warnings; where it is missing, the error says what `subject` needs it."""
    try:
        import optuna
    except ImportError:
        raise missing_extra(subject, "Optuna", "tune") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def frozen_trial(optuna: Any, space: Space, observation: Observation) -> Any:
    """Return an observation as a trial of Optuna."""
    state = optuna.trial.TrialState
    names = observation.point
    return optuna.trial.create_trial(
        state=state.RUNNING if observation.pending else state.PRUNED if observation.score is None else state.COMPLETE,
        value=None if observation.pending else observation.score,
        params={name: _to_optuna(space[name], value) for name, value in names.items()},
        distributions={name: _distribution(optuna, space[name]) for name in names},
    )


def _distribution(optuna: Any, parameter: Parameter) -> Any:
    kinds = optuna.distributions
    if isinstance(parameter, Choice):
        return kinds.CategoricalDistribution(range(len(parameter.values)))
    if isinstance(parameter, IntRange):
        return kinds.IntDistribution(parameter.low, parameter.high, log=parameter.log, step=parameter.step)
    if isinstance(parameter, FloatRange):
        return kinds.FloatDistribution(parameter.low, parameter.high, log=parameter.log)
    raise TypeError(type(parameter))


def _to_optuna(parameter: Parameter, value: Any) -> Any:
    """Return a value as Optuna knows it: the number of a choice, whatever its type, else the value."""
    if not isinstance(parameter, Choice):
        return value
    return next(number for number, each in enumerate(parameter.values) if is_among(value, (each,)))
