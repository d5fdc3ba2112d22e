"""What a protocol fixes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

from graphtrial.errors import GraphTrialError
from graphtrial.registry import Registry
from graphtrial.spec import reject_unknown_keys
from graphtrial.training.protocols.features import FeatureSvmRules
from graphtrial.training.protocols.svm import SvmRules


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

    batch_size: int
    lr: float
    patience: int
    min_lr: float
    factor: float = 0.5
    threshold: float = 1e-4
    weight_decay: float = 0.0
    max_epochs: int = 1000
    max_hours: float = 12.0
    tested: Literal["last", "best"] = "last"
    judged_by: Literal["loss", "score"] = "loss"
    gradient: Literal["mean", "accumulated"] = "mean"

    def __post_init__(self) -> None:
        for name in ("batch_size", "lr", "min_lr", "max_epochs", "max_hours"):
            if not getattr(self, name) > 0:
                raise GraphTrialError(f"{name} must be above 0, not {getattr(self, name)!r}")
        if not 0 < self.factor < 1:
            raise GraphTrialError(f"factor must lie between 0 and 1, not {self.factor!r}")
        for name, hint in get_type_hints(type(self)).items():
            if get_origin(hint) is Literal and getattr(self, name) not in get_args(hint):
                allowed = " or ".join(repr(value) for value in get_args(hint))
                raise GraphTrialError(f"{name} must be {allowed}, not {getattr(self, name)!r}")

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Rules:
        """Make rules from plain values; an unknown key is an error that names the nearest known one."""
        reject_unknown_keys(values, dict.fromkeys(f.name for f in fields(cls)), "the training rules")
        return cls(**values)

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
    folds: int = 10
    validation: float = 0.1
    chosen: tuple[str, ...] = ("layers", "width")
    schedule: Literal["right", "as-published"] = "right"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.folds < 2 or not 0 < self.validation < 1:
            raise GraphTrialError(
                f"folds must be 2 or more and validation a share between 0 and 1, not {self.folds}, {self.validation}"
            )

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> FoldRules:
        """Make rules from plain values; an unknown key is an error that names the nearest known one."""
        reject_unknown_keys(values, dict.fromkeys(f.name for f in fields(cls)), "the training rules")
        listed: dict[str, Any] = {key: tuple(values[key]) for key in ("chosen",) if key in values}
        return cls(**(values | listed))

    def plateau_mode(self, *, rising: bool) -> Literal["max", "min"]:
        return "min" if self.schedule == "as-published" else super().plateau_mode(rising=rising)


AnyRules = Rules | SvmRules | FeatureSvmRules
KINDS: dict[str | None, type[Rules] | type[SvmRules] | type[FeatureSvmRules]] = {
    None: Rules,
    "folds": FoldRules,
    "kernel-svm": SvmRules,
    "feature-svm": FeatureSvmRules,
}


def rules_from(values: dict[str, Any]) -> AnyRules:
    """Make rules of any kind from plain values."""
    kind = values.get("kind")
    if kind not in KINDS:
        raise GraphTrialError(f"no rules of the kind {kind!r}; there are {', '.join(filter(None, KINDS))}")
    return KINDS[kind].from_dict(values)


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
