"""Tree-structured Parzen estimator (Bergstra et al., NeurIPS 2011), by Optuna."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from graphtrial.core.errors import missing_extra
from graphtrial.tuning.parameter import Choice, FloatRange, IntRange, Parameter, is_among
from graphtrial.tuning.samplers.base import ATTEMPTS, Observation, Sampler
from graphtrial.tuning.space import Point, Space


class TPESampler(Sampler):
    """Optuna's TPE sampler, rebuilt for every proposal with all observations replayed.

    Optuna keeps no state and no storage: its study is built in memory from the observations, and its random generator
    is seeded by the seed, the number of the proposal and the attempt. Pending proposals are known to it without a value
    (constant liar); one that ended without a score counts as worse than all others.
    """

    adaptive = True

    def __init__(self, space: Space, seed: int) -> None:
        super().__init__(space, seed)
        self.optuna = _import_optuna()

    def candidates(self, number: int, observations: Sequence[Observation]) -> Iterator[Point]:
        optuna = self.optuna
        distributions = {parameter.name: self._distribution(parameter) for parameter in self.space}
        for attempt in range(ATTEMPTS):
            seed = int(self.generator(number, attempt).integers(2**31))
            study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed), direction="minimize")
            for observation in observations:
                study.add_trial(self._frozen(observation, distributions))
            trial = study.ask()
            point: Point = {}
            for parameter in self.space:
                if parameter.is_active(point):
                    point[parameter.name] = _suggested(trial, parameter)
            yield point

    def _frozen(self, observation: Observation, distributions: dict[str, Any]) -> Any:
        state = self.optuna.trial.TrialState
        names = observation.point
        return self.optuna.trial.create_trial(
            state=state.RUNNING
            if observation.pending
            else state.PRUNED
            if observation.score is None
            else state.COMPLETE,
            value=None if observation.pending else observation.score,
            params={name: _to_optuna(self.space[name], value) for name, value in names.items()},
            distributions={name: distributions[name] for name in names},
        )

    def _distribution(self, parameter: Parameter) -> Any:
        kinds = self.optuna.distributions
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


def _suggested(trial: Any, parameter: Parameter) -> Any:
    """Return the value that Optuna suggests for a parameter."""
    name = parameter.name
    if isinstance(parameter, Choice):
        return parameter.values[trial.suggest_categorical(name, range(len(parameter.values)))]
    if isinstance(parameter, IntRange):
        return trial.suggest_int(name, parameter.low, parameter.high, step=parameter.step, log=parameter.log)
    if isinstance(parameter, FloatRange):
        return parameter.rounded(trial.suggest_float(name, parameter.low, parameter.high, log=parameter.log))
    raise TypeError(type(parameter))


def _import_optuna() -> Any:
    """Import Optuna, which is optional; it logs only warnings."""
    try:
        import optuna
    except ImportError:
        raise missing_extra("a TPE search", "Optuna", "tune") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna
