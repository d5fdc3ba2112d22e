"""Tree-structured Parzen estimator (Bergstra et al., NeurIPS 2011), by Optuna."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from graphtrial.tuning.parameter import Choice, FloatRange, IntRange, Parameter
from graphtrial.tuning.samplers.base import ATTEMPTS, Observation, Sampler
from graphtrial.tuning.samplers.optuna_trials import frozen_trial, import_optuna
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
        self.optuna = import_optuna("a TPE search")

    def candidates(self, number: int, observations: Sequence[Observation]) -> Iterator[Point]:
        optuna = self.optuna
        for attempt in range(ATTEMPTS):
            seed = int(self.generator(number, attempt).integers(2**31))
            study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed), direction="minimize")
            for observation in observations:
                study.add_trial(frozen_trial(optuna, self.space, observation))
            trial = study.ask()
            point: Point = {}
            for parameter in self.space:
                if parameter.is_active(point):
                    point[parameter.name] = _suggested(trial, parameter)
            yield point


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
