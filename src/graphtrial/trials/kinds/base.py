"""Base class of the kinds of trials."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.hardware.compute import Compute
from graphtrial.core.rules import Rules
from graphtrial.core.spec import Component
from graphtrial.datasets import Dataset
from graphtrial.nn import Shapes
from graphtrial.training.batches import Job
from graphtrial.training.outcome import Epoch, Outcome

if TYPE_CHECKING:
    from graphtrial.training.checkpoint import Checkpoint
    from graphtrial.trials.trial import TrialSpec

R = TypeVar("R", bound=Rules)
DEFAULT_MAX_HOURS = 12.0
"""Time limit of a trial whose rules have none: that of most trainings."""


class TrialKind(ABC, Generic[R]):
    """A kind of trial under given rules: how it is specified, split, run, timed and shown.

    A subclass is registered in `graphtrial.trials.kinds` with the classes of rules that it handles. Nothing outside of
    this package tests the type of the rules of a trial.
    """

    rules_types: ClassVar[tuple[type[Any], ...]]
    """The classes of rules that trials of this kind follow."""
    noun: ClassVar[str] = "model"
    """Name for the model of a trial in messages: model or kernel."""
    has_epochs: ClassVar[bool] = False
    """Trials are trained in epochs, and have a history."""
    takes_encodings: ClassVar[bool] = False
    """Encodings and parameter budgets are allowed."""
    fixed_seeds: ClassVar[bool] = False
    """Studies run exactly the seeds of the protocol."""
    uses_device: ClassVar[bool] = False
    """Trials can be computed on a GPU; all others are computed on the CPU regardless of the device."""
    needs_sklearn: ClassVar[bool] = False
    """Trials import scikit-learn, which workers should have preloaded."""

    def __init__(self, rules: R) -> None:
        self.rules = rules

    # Specification

    @abstractmethod
    def resolve(self, model: Component) -> Component:
        """Return the model or kernel with the arguments that differ from their defaults; an invalid one is an error."""

    def settings(self, model: Component, version: int | None = None) -> dict[str, Any]:
        """Return all arguments of a model or kernel, defaults included; as stored for an unregistered version."""
        return model.arguments

    def check_settings(self, name: str, settings: Mapping[str, Any]) -> None:
        """Raise an error unless these settings are valid; the width may be missing."""
        self.resolve(Component(name, dict(settings)))

    def check_dataset(self, dataset: Dataset) -> None:
        """Raise an error unless such trials can run on the dataset."""

    def shapes(self, shapes: Shapes) -> Shapes:
        """Return the shapes of a model under these rules from those of dataset and encoding."""
        return shapes

    def version(self, name: str) -> int:
        """Return the current version of the model or kernel; 1 where it has none."""
        return 1

    @property
    def changed_version(self) -> str:
        """The component of the rules with an unregistered version, for messages; empty for none."""
        return ""

    def origins(self, name: str) -> tuple[Any, ...]:
        """Return the classes or functions, besides dataset and encoding, whose source determines the result."""
        return ()

    # Splits

    @property
    def draws_folds(self) -> bool:
        """The seed draws the folds of a cross-validation."""
        return False

    @property
    def is_nested(self) -> bool:
        """Model selection is made for each of the folds, which are fixed; the seeds of a fold are runs of one model."""
        return False

    def split_count(self, dataset: Dataset | None) -> int | None:
        """Return the number of splits or folds; `None` if it depends on the dataset, which is not given."""
        return None if dataset is None else len(dataset.splits)

    @property
    def is_deterministic(self) -> bool:
        """The seed has no effect on the result."""
        return False

    # Running

    @abstractmethod
    def run(
        self,
        spec: TrialSpec,
        dataset: Dataset,
        checkpoint: Path | Checkpoint,
        on_epoch: Callable[[Epoch], None],
        compute: Compute,
    ) -> Outcome:
        """Run a trial on its dataset, resuming from the checkpoint if there is one."""

    def job(self, spec: TrialSpec, dataset: Dataset) -> Job:
        """Return the training job of a trial."""
        raise GraphTrialError(f"trial {spec.id} is not trained in epochs: it fits a support vector machine")

    def can_vectorize(self, spec: TrialSpec) -> bool:
        """Whether the trial can be trained in one vectorized loop with others that differ in split and seed."""
        return False

    # Time

    @property
    def max_hours(self) -> float:
        """Time limit in hours, after which a silent trial counts as hanging."""
        return DEFAULT_MAX_HOURS

    @property
    def expected_epochs(self) -> int | None:
        """Approximate number of epochs until the stopping rule applies."""
        return None

    @property
    def most_epochs(self) -> int | None:
        """Limit on the number of epochs, None without one."""
        return None

    @property
    def least_epochs(self) -> int | None:
        """The smallest number of epochs after which a stopping rule can apply, time limits apart."""
        return None

    def val_score(self, history: Sequence[Epoch], higher_is_better: bool) -> float | None:
        """Return the validation score of the weights that would be evaluated after these epochs."""
        return None

    def estimate_hours(self, epoch_seconds: float) -> float | None:
        """Return the estimated hours of a trial from the seconds of one epoch."""
        return None

    def measure_epoch(self, spec: TrialSpec, dataset: Dataset) -> float:
        """Return the measured seconds of one epoch of a trial."""
        raise GraphTrialError(f"{spec.model.name} is not trained in epochs, so there is none to time")

    @property
    def batching(self) -> dict[str, Any]:
        """The rules that the time and memory of an epoch depend on."""
        return {}

    # Display

    @abstractmethod
    def title(self, name: str) -> str:
        """Return the display name of a model or kernel."""

    @property
    def selected(self) -> tuple[str, ...]:
        """The settings selected by validation, fold by fold."""
        return ()
