"""Rules of one training, and the interface of the rules of any kind of trial."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, TypeVar

from graphtrial.core.arguments import Fraction, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt
from graphtrial.core.signatures import check_fields
from graphtrial.core.spec import resolve_arguments
from graphtrial.svm.rules import Folds

R = TypeVar("R", bound="TrainingRules")
T = TypeVar("T", bound="Rules")


class Rules(Protocol):
    """Interface of the rules of any kind of trial: a frozen dataclass, part of a trial's identity."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @classmethod
    def from_dict(cls: type[T], values: Mapping[str, Any]) -> T:
        """Build rules from plain values; an unknown key is an error that names the nearest known one."""


@dataclass(frozen=True)
class TrainingRules:
    """The rules of one training; part of a trial's identity.

    Adam; after each epoch the learning rate is multiplied by `factor` when the validation loss has not improved by
    `threshold` (relative) for more than `patience` epochs. Training ends when the rate falls below `min_lr`, after
    `max_epochs` epochs or after `max_hours` of training. `tested` says whose weights are scored at the end: those of
    the `last` epoch, or those of the `best` one, which had the lowest validation loss. With `judged_by` score it is the
    validation score that counts for both. `gradient` is that of the `mean` over a batch, or `accumulated`: the sum over
    graphs one by one, in the batches of `AccumulatingLoader`. `batch_size` counts graphs, or pairs in link prediction;
    a single graph whose nodes are classified is one batch, whatever it says.
    """

    batch_size: PositiveInt
    lr: PositiveFloat
    patience: NonNegativeInt
    min_lr: PositiveFloat
    factor: Fraction = 0.5
    threshold: NonNegativeFloat = 1e-4
    weight_decay: NonNegativeFloat = 0.0
    max_epochs: PositiveInt = 1000
    max_hours: PositiveFloat = 12.0
    tested: Literal["last", "best"] = "last"
    judged_by: Literal["loss", "score"] = "loss"
    gradient: Literal["mean", "accumulated"] = "mean"

    def __post_init__(self) -> None:
        check_fields(self)

    @classmethod
    def from_dict(cls: type[R], values: Mapping[str, Any]) -> R:
        """Make rules from plain values; an unknown key is an error that names the nearest known one."""
        return cls(**resolve_arguments(cls, values, "the training rules"))

    def plateau_mode(self, *, rising: bool) -> Literal["max", "min"]:
        """Return whether the schedule waits for higher or for lower numbers, given which are better."""
        return "max" if rising else "min"


@dataclass(frozen=True)
class FoldRules(TrainingRules):
    """The rules of one training of a cross-validation whose folds the seed draws, the same as for kernels.

    The seed of a trial shuffles the graphs and divides them into `folds`; the trial's split says which is tested. A
    share `validation` of the rest, also drawn by the seed, decides when to lower the rate, which epoch is tested, and
    which of the trials that differ in the settings `chosen` alone stands for the fold. With `schedule` as-published the
    rate is lowered unless the validation score gets lower, whatever is better: the fault of the released code.
    """

    kind: Literal["folds"] = "folds"
    folds: Folds = 10
    validation: Fraction = 0.1
    chosen: tuple[str, ...] = ("layers", "width")
    schedule: Literal["right", "as-published"] = "right"

    def plateau_mode(self, *, rising: bool) -> Literal["max", "min"]:
        return "min" if self.schedule == "as-published" else super().plateau_mode(rising=rising)
