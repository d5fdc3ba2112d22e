"""Base classes and registries of optimizers, schedules and stopping rules.

A component is a frozen dataclass: its fields are its configuration, named as torch names them, typed and ranged. It
holds no state and imports no torch until it is built, so that protocols can be listed without it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

from graphtrial.core.errors import GraphTrialError, UnknownNameError
from graphtrial.core.registry import Registry, is_subclass
from graphtrial.core.signatures import check_fields
from graphtrial.core.spec import differing, format_value

if TYPE_CHECKING:
    import torch
    from torch.nn import Parameter

Status = Literal["done", "time", "diverged", "oom", "paused"]


@dataclass(frozen=True)
class RuleComponent(ABC):
    """A named part of the training rules; `version` is raised whenever its numbers or its defaults change."""

    name: ClassVar[str]
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        check_fields(self, f"'{self.name}'")

    @property
    def arguments(self) -> dict[str, Any]:
        """Every argument by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def to_dict(self) -> dict[str, Any]:
        """Return the arguments that differ from their defaults, and the version above 1."""
        return {**({"version": self.version} if self.version > 1 else {}), **differing(type(self), self.arguments)}

    def __str__(self) -> str:
        written = ",".join(
            f"{key}={format_value(value)}" for key, value in differing(type(self), self.arguments).items()
        )
        return f"{self.name}:{written}" if written else self.name


class Optimizer(RuleComponent):
    """Base class of optimizers: the first-order method, its learning rate and weight decay."""

    @abstractmethod
    def build(self, parameters: Iterable[Parameter]) -> torch.optim.Optimizer:
        """Return the optimizer of these parameters."""


@dataclass(frozen=True)
class Run:
    """Properties of a training that a schedule depends on, besides its arguments.

    `rising`: higher monitored values are better; `max_epochs`: the epoch limit, if there is one.
    """

    steps_per_epoch: int
    rising: bool = False
    max_epochs: int | None = None


class Scheduler(Protocol):
    """Schedule bound to an optimizer, whose learning rate it sets; its state can be saved as JSON."""

    def step(self, value: float, /) -> None:
        """Advance by one epoch, or one optimizer step; `value` is the monitored quantity of the epoch."""

    def state_dict(self) -> dict[str, Any]:
        """Return the state as plain values."""

    def load_state_dict(self, state_dict: dict[str, Any], /) -> None:
        """Restore a state."""


class Schedule(RuleComponent):
    """Base class of learning-rate schedules."""

    every: ClassVar[Literal["epoch", "step"]] = "epoch"
    """Whether the schedule is stepped after each epoch or after each optimizer step."""
    reads_value: ClassVar[bool] = True
    """Whether the schedule depends on the monitored quantity, or, by steps, on the loss; else it is passed NaN."""

    def check(self, max_epochs: int | None) -> None:
        """Raise an error if the schedule is undefined under this epoch limit."""

    @abstractmethod
    def build(self, optimizer: torch.optim.Optimizer, run: Run) -> Scheduler:
        """Bind the schedule to an optimizer and set its initial learning rate."""


@dataclass(frozen=True)
class Progress:
    """The state of a training between two epochs.

    `values` are the monitored quantities of the epochs so far, negated where higher is better, `rates` their learning
    rates; `lr` is that of the next epoch.
    """

    values: Sequence[float]
    rates: Sequence[float]
    seconds: float
    lr: float


class StoppingRule(RuleComponent):
    """Base class of stopping rules; a function of the history alone, so that resuming needs no state."""

    status: ClassVar[Status] = "done"
    """Status of a trial that the rule stops."""

    @abstractmethod
    def is_met(self, progress: Progress) -> bool:
        """Return whether training stops."""


@dataclass(frozen=True)
class Unregistered(Optimizer, Schedule, StoppingRule):
    """A component of a stored trial that is not registered here, or at another version: readable, not runnable."""

    label: str
    given: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.label)

    @property
    def arguments(self) -> dict[str, Any]:
        return {key: value for key, value in self.given.items() if key != "version"}

    def to_dict(self) -> dict[str, Any]:
        return dict(self.given)

    def build(self, *_: Any) -> Any:
        raise self._error()

    def is_met(self, progress: Progress) -> bool:
        raise self._error()

    def __str__(self) -> str:
        return self.label

    def _error(self) -> GraphTrialError:
        version = self.given.get("version", 1)
        return UnknownNameError(f"version {version} of '{self.label}', which the rules name, is not registered here")


def _registry(kind: str, plural: str, base: type) -> Registry[Any]:
    return Registry(
        kind,
        f"graphtrial.training.optim.{plural}",
        fits=lambda thing: is_subclass(thing, base),
        wanted=f"a subclass of graphtrial.training.optim.{base.__name__}",
        declared=("name",),
        plural=plural,
    )


OPTIMIZERS: Registry[type[Optimizer]] = _registry("optimizer", "optimizers", Optimizer)
SCHEDULES: Registry[type[Schedule]] = _registry("schedule", "schedules", Schedule)
STOPPING: Registry[type[StoppingRule]] = _registry("stopping rule", "stopping", StoppingRule)
