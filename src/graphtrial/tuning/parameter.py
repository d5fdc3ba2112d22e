"""Parameters of a search space: ranges of integers and floats, and choices, each perhaps under a condition."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.spec import canonical_json

Part = Literal["settings", "rules", "encoding"]
"""What a parameter belongs to: the model's settings, the training rules, or the encoding."""
SIGNIFICANT_DIGITS = 4
"""Digits of a sampled float: values that people can read, and that no rounding of `exp` on another machine changes."""


@dataclass(frozen=True)
class Parameter(ABC):
    """One dimension of a search space.

    `when` maps the names of other parameters to the values under which this one is active; an inactive one keeps the
    default of the model or protocol.
    """

    name: str
    part: Part
    when: Mapping[str, tuple[Any, ...]] = field(default_factory=dict, kw_only=True)

    @abstractmethod
    def sample(self, rng: np.random.Generator) -> Any:
        """Draw a value: uniform, or log-uniform where declared."""

    @abstractmethod
    def grid(self) -> tuple[Any, ...]:
        """Return the values of a grid search, in order; a range that declares none is an error."""

    @abstractmethod
    def extremes(self) -> tuple[Any, ...]:
        """Return the values to validate: both ends of a range, or every choice."""

    @abstractmethod
    def __contains__(self, value: Any) -> bool:
        """Whether this value can be drawn."""

    def is_active(self, point: Mapping[str, Any]) -> bool:
        """Whether the conditions hold at a point, which has the values of the parameters that are active there."""
        return all(name in point and is_among(point[name], values) for name, values in self.when.items())


@dataclass(frozen=True)
class Choice(Parameter):
    """One of several values of any type."""

    values: tuple[Any, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        if not self.values:
            raise GraphTrialError(f"'{self.name}' of the space has no values to choose from")
        if len({canonical_json(value) for value in self.values}) < len(self.values):
            raise GraphTrialError(f"'{self.name}' of the space has a value twice")

    def sample(self, rng: np.random.Generator) -> Any:
        return self.values[int(rng.integers(len(self.values)))]

    def grid(self) -> tuple[Any, ...]:
        return self.values

    def extremes(self) -> tuple[Any, ...]:
        return self.values

    def __contains__(self, value: Any) -> bool:
        return is_among(value, self.values)


@dataclass(frozen=True)
class IntRange(Parameter):
    """Integers from `low` to `high`, both included, in steps of `step`, or log-uniform."""

    low: int = field(default=0, kw_only=True)
    high: int = field(default=0, kw_only=True)
    step: int = field(default=1, kw_only=True)
    log: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        _check_ends(self.name, self.low, self.high, self.log)
        if self.step < 1 or (self.high - self.low) % self.step or (self.log and self.step != 1):
            raise GraphTrialError(
                f"'{self.name}' of the space goes from {self.low} to {self.high}, not in whole steps of {self.step}"
                f"{' on a log scale' if self.log else ''}"
            )

    def sample(self, rng: np.random.Generator) -> int:
        if not self.log:
            return self.low + self.step * int(rng.integers((self.high - self.low) // self.step + 1))
        value = math.exp(rng.uniform(math.log(self.low - 0.5), math.log(self.high + 0.5)))
        return min(max(round(value), self.low), self.high)

    def grid(self) -> tuple[int, ...]:
        if not self.log:
            return tuple(range(self.low, self.high + 1, self.step))
        doubled = [self.low << power for power in range((self.high // self.low).bit_length())]
        return tuple(dict.fromkeys([*doubled, self.high]))

    def extremes(self) -> tuple[int, ...]:
        return (self.low, self.high)

    def __contains__(self, value: Any) -> bool:
        return type(value) is int and self.low <= value <= self.high and (value - self.low) % self.step == 0


@dataclass(frozen=True)
class FloatRange(Parameter):
    """Floats from `low` to `high`, uniform or log-uniform; `points` of them, both ends included, in a grid search."""

    low: float = field(default=0.0, kw_only=True)
    high: float = field(default=0.0, kw_only=True)
    log: bool = field(default=False, kw_only=True)
    points: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        _check_ends(self.name, self.low, self.high, self.log)
        if self.points is not None and self.points < 2:
            raise GraphTrialError(f"'{self.name}' of the space needs at least 2 points, the ends of its range")

    def sample(self, rng: np.random.Generator) -> float:
        low, high = (math.log(self.low), math.log(self.high)) if self.log else (self.low, self.high)
        value = rng.uniform(low, high)
        return self.rounded(math.exp(value) if self.log else value)

    def grid(self) -> tuple[float, ...]:
        if self.points is None:
            raise GraphTrialError(
                f"a grid search needs the number of points of '{self.name}': write "
                f"{self.name} = {{ low = {self.low:g}, high = {self.high:g}, points = 3 }}, or a list of values"
            )
        ends = (math.log(self.low), math.log(self.high)) if self.log else (self.low, self.high)
        values = np.linspace(*ends, self.points).tolist()
        inner = [self.rounded(math.exp(value) if self.log else value) for value in values[1:-1]]
        return tuple(dict.fromkeys([self.low, *inner, self.high]))

    def rounded(self, value: float) -> float:
        """Return a value with `SIGNIFICANT_DIGITS`, within the range."""
        return min(max(float(f"{value:.{SIGNIFICANT_DIGITS}g}"), self.low), self.high)

    def extremes(self) -> tuple[float, ...]:
        return (self.low, self.high)

    def __contains__(self, value: Any) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool) and self.low <= value <= self.high


def _check_ends(name: str, low: float, high: float, log: bool) -> None:
    if not low < high:
        raise GraphTrialError(
            f"'{name}' of the space goes from {low} to {high}: the low end must be below the high one"
        )
    if log and low <= 0:
        raise GraphTrialError(f"'{name}' of the space has a log scale from {low}: the low end must be above 0")


def is_among(value: Any, values: tuple[Any, ...]) -> bool:
    """Whether a value equals one of several; 0 equals 0.0, but true does not equal 1."""
    return any(value == each and isinstance(value, bool) == isinstance(each, bool) for each in values)
