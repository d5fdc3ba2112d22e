"""What a protocol fixes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeVar

from graphtrial.core.arguments import Count, Fraction, NotNegative, Positive, Whole, check_fields, check_value
from graphtrial.core.errors import GraphTrialError, shown
from graphtrial.core.registry import Registry
from graphtrial.core.spec import resolve_arguments
from graphtrial.training.protocols.features import FeatureSvmRules
from graphtrial.training.protocols.svm import Folds, SvmRules

R = TypeVar("R", bound="Rules")


@dataclass(frozen=True)
class Rules:
    """The rules of one training; part of a trial's identity.

    Adam; after each epoch the learning rate is multiplied by `factor` when the validation loss has not improved by
    `threshold` (relative) for more than `patience` epochs. Training ends when the rate falls below `min_lr`, after
    `max_epochs` epochs or after `max_hours` of training. `tested` says whose weights are scored at the end: those of
    the `last` epoch, or those of the `best` one, which had the lowest validation loss. With `judged_by` score it is the
    validation score that counts for both. `gradient` is that of the `mean` over a batch, or `accumulated`: the sum over
    graphs one by one, in the batches of `AccumulatingLoader`. `batch_size` counts graphs, or pairs in link prediction;
    a single graph whose nodes are classified is one batch, whatever it says.
    """

    batch_size: Count
    lr: Positive
    patience: Whole
    min_lr: Positive
    factor: Fraction = 0.5
    threshold: NotNegative = 1e-4
    weight_decay: NotNegative = 0.0
    max_epochs: Count = 1000
    max_hours: Positive = 12.0
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
class FoldRules(Rules):
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


AnyRules = Rules | SvmRules | FeatureSvmRules
KINDS: dict[str | None, type[Rules] | type[SvmRules] | type[FeatureSvmRules]] = {
    None: Rules,
    "folds": FoldRules,
    "kernel-svm": SvmRules,
    "feature-svm": FeatureSvmRules,
}


def rules_from(values: Any) -> AnyRules:
    """Make rules of any kind from plain values."""
    given = check_value(values, dict[str, Any], "the rules of a trial")
    kind = check_value(given.get("kind"), str | None, "the kind of the rules")
    if kind not in KINDS:
        raise GraphTrialError(f"no rules of the kind {shown(kind)}; there are {', '.join(filter(None, KINDS))}")
    return KINDS[kind].from_dict(given)


@dataclass(frozen=True)
class Protocol:
    """The rules, the seeds and the source of one published way to train on one dataset, or to try kernels.

    A protocol never changes under its name and version. `exceptions` are rules that a single model has instead, by its
    name or, for one depth alone, by name and layers such as `gcn/16`. `interval` says how the paper finds the interval
    of a mean over trials: Student's t, or resampling of the trials.
    """

    name: str
    version: int
    rules: AnyRules
    seeds: tuple[int, ...]
    splits: int
    paper: str
    notes: tuple[str, ...] = ()
    exceptions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    interval: Literal["t", "bootstrap"] = "t"

    def first_seeds(self, count: int) -> tuple[int, ...]:
        """Return so many seeds: the published ones in their order, then derived ones.

        The derived seed number k, counted from 0 after the published ones, is the first 31 bits of the SHA-256 of
        `NAME seed k`, such as `bgnn-v5/zinc seed 0`; one that is there already is left out.
        """
        seeds = list(self.seeds[:count])
        number = 0
        while len(seeds) < count:
            text = f"{self.name} seed {number}".encode()
            seed = int.from_bytes(hashlib.sha256(text).digest()[:4], "big") >> 1
            seeds += [seed] if seed not in seeds else []
            number += 1
        return tuple(seeds)

    def rules_for(self, model: str, layers: int | None = None, changes: Mapping[str, Any] | None = None) -> AnyRules:
        """Return the rules of a model of this depth; `changes` to single rules go before everything."""
        special = {**self.exceptions.get(model, {}), **self.exceptions.get(f"{model}/{layers}", {})}
        return type(self.rules).from_dict({**asdict(self.rules), **special, **(changes or {})})


PROTOCOLS: Registry[Protocol] = Registry(
    "protocol",
    "graphtrial.training.protocols",
    fits=lambda thing: isinstance(thing, Protocol),
    wanted="a graphtrial.Protocol",
)


def declare(
    name: str,
    rules: AnyRules,
    *notes: str,
    paper: str,
    seeds: tuple[int, ...],
    splits: int = 1,
    exceptions: Mapping[str, Mapping[str, Any]] | None = None,
    interval: Literal["t", "bootstrap"] = "t",
    told: tuple[str, ...] = (),
) -> None:
    """File the first version of a protocol under its name; `told` are notes that all protocols of a paper have."""
    notes = (*told, *notes)
    PROTOCOLS.add(name, Protocol(name, 1, rules, seeds, splits, paper, notes, exceptions or {}, interval))
