"""Rules of one training, composed of an optimizer, a schedule and stopping rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, TypeVar

from graphtrial.core.arguments import PositiveFloat, PositiveInt, check_value
from graphtrial.core.errors import GraphTrialError, UnknownNameError, did_you_mean
from graphtrial.core.registry import Registry
from graphtrial.core.rules import Rules
from graphtrial.core.signatures import check_fields
from graphtrial.core.spec import declared_defaults, differing, resolve_arguments, without_defaults
from graphtrial.training.cross_validation import CrossValidation
from graphtrial.training.optim.base import OPTIMIZERS, SCHEDULES, STOPPING, Optimizer, Schedule, StoppingRule
from graphtrial.training.optim.reading import NONE, read_component, read_stopping, read_stored
from graphtrial.training.optim.schedules.constant import Constant
from graphtrial.training.optim.stopping.max_epochs import MaxEpochs
from graphtrial.training.optim.stopping.max_hours import MaxHours

S = TypeVar("S", bound=StoppingRule)
CONSTANT = Constant()
Precision = Literal[32, "tf32", "bf16"]
Scoring = Literal["examples", "batches", "batches-softmax-rows"]


@dataclass(frozen=True)
class TrainingRules(Rules):
    """The rules of one training; part of a trial's identity.

    batch_size: graphs, or pairs in link prediction; a single graph whose nodes are classified is one batch.
    optimizer, schedule: the method and how its learning rate changes.
    stopping: training stops when one of these rules is met; one of max_epochs and max_hours is among them.
    clip_grad_norm: largest norm of the gradient of all parameters (`torch.nn.utils.clip_grad_norm_`).
    accumulation: batches whose gradients are accumulated before a step, weighted by their numbers of examples; or
        `as-published`: the sum over single graphs, stepping when `index % batch_size == 0`, as the released loop of
        Weisfeiler-Leman networks does (`AccumulatingLoader`).
    monitor: the quantity that the schedule, early stopping and the choice of the best epoch follow.
    evaluate: whose weights are scored at the end, those of the last epoch or of the one with the best monitored
        quantity.
    cross_validation: folds drawn by the seed; without it the splits are those of the dataset.
    single_logit: two classes are predicted by one logit and binary cross-entropy, as GraphGPS does on PATTERN.
    scoring: losses and scores of evaluation over all `examples`, or the mean of those of `batches`, as in released
        loops; `batches-softmax-rows`: the same with a softmax over the rows of a batch in place of the classes.
    precision: of matrix products. 32 bits; `tf32`, which NVIDIA GPUs round to; or `bf16`, by automatic mixed precision:
        weights, sums over neighbours, normalisation and loss keep 32 bits.
    """

    description: ClassVar[str] = "the training rules"

    batch_size: PositiveInt
    optimizer: Optimizer
    stopping: tuple[StoppingRule, ...]
    schedule: Schedule = CONSTANT
    clip_grad_norm: PositiveFloat | None = None
    accumulation: PositiveInt | Literal["as-published"] = 1
    monitor: Literal["val_loss", "val_score"] = "val_loss"
    evaluate: Literal["last", "best"] = "last"
    cross_validation: CrossValidation | None = None
    precision: Precision = 32
    single_logit: bool = False
    scoring: Scoring = "examples"

    def __post_init__(self) -> None:
        check_fields(self, self.description)
        object.__setattr__(self, "stopping", read_stopping(self.stopping))
        if self.stop(MaxEpochs) is None and self.stop(MaxHours) is None:
            raise GraphTrialError("a training without stopping.max_epochs or stopping.max_hours may never end: set one")
        self.schedule.check(self.max_epochs)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TrainingRules:
        """Build rules from plain values, nested or with dotted keys."""
        return cls(**resolve_arguments(cls, _read(values, {}), cls.description))

    @classmethod
    def from_stored(cls, values: Mapping[str, Any]) -> TrainingRules:
        """Read what `to_dict` wrote; components that are not registered here are read as stored."""
        given = dict(values)
        for key, registry in (("optimizer", OPTIMIZERS), ("schedule", SCHEDULES)):
            if key in given:
                table = dict(check_value(given[key], dict[str, Any], key))
                given[key] = read_stored(registry, table.pop("name", None), table)
        stopping = check_value(given.get("stopping"), dict[str, Any], "stopping")
        given["stopping"] = tuple(read_stored(STOPPING, name, table) for name, table in stopping.items())
        return super().from_stored(given)

    def to_dict(self) -> dict[str, Any]:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        values["optimizer"] = {"name": self.optimizer.name, **self.optimizer.to_dict()}
        values["schedule"] = {"name": self.schedule.name, **self.schedule.to_dict()}
        values["stopping"] = {rule.name: rule.to_dict() for rule in self.stopping}
        if self.cross_validation is not None:
            values["cross_validation"] = differing(CrossValidation, vars(self.cross_validation))
        defaults = {**declared_defaults(type(self)), "schedule": {"name": Constant.name}}
        return {**({"version": self.version} if self.version > 1 else {}), **without_defaults(values, defaults)}

    def changed(self, changes: Mapping[str, Any]) -> TrainingRules:
        """Return the rules with some of them changed, by keys such as `optimizer.lr`, `schedule`, `stopping.min_lr`."""
        return type(self)(**_read(changes, {field.name: getattr(self, field.name) for field in fields(self)}))

    def flat(self) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Optimizer | Schedule):
                result[field.name] = value.name
                result |= {f"{field.name}.{key}": argument for key, argument in value.arguments.items()}
            elif field.name == "stopping":
                for rule in value:
                    result |= {f"stopping.{key}": argument for key, argument in _by_name(rule).items()}
            elif isinstance(value, CrossValidation):
                result |= {f"{field.name}.{key}": argument for key, argument in vars(value).items()}
            else:
                result[field.name] = value
        return result

    def summary(self) -> dict[str, Any]:
        shown = {"optimizer": str(self.optimizer), "schedule": str(self.schedule)}
        stopping = {f"stopping.{key}": value for rule in self.stopping for key, value in _by_name(rule).items()}
        cross_validation = {} if self.cross_validation is None else vars(self.cross_validation)
        others = {key: value for key, value in self.to_dict().items() if key not in (*shown, "stopping", "batch_size")}
        others.pop("cross_validation", None)
        folds = {f"cross_validation.{key}": value for key, value in cross_validation.items() if value is not None}
        return {"batch_size": self.batch_size, **shown, **stopping, **others, **folds}

    def difference(self, other: Rules) -> dict[str, Any]:
        result = super().difference(other)
        for part in (self.optimizer, self.schedule):
            key = "optimizer" if part is self.optimizer else "schedule"
            if key in result:  # another component, with its arguments
                result = {name: value for name, value in result.items() if not name.startswith(f"{key}.")}
                result[key] = str(part)
        if self.cross_validation is None and any(name.startswith("cross_validation.") for name in result):
            result = {name: value for name, value in result.items() if not name.startswith("cross_validation.")}
            result["cross_validation"] = None
        return result

    def stop(self, kind: type[S]) -> S | None:
        """Return the stopping rule of a kind, if there is one."""
        return next((rule for rule in self.stopping if isinstance(rule, kind)), None)

    @property
    def max_epochs(self) -> int | None:
        """The epoch limit, if there is one."""
        rule = self.stop(MaxEpochs)
        return rule.epochs if rule else None

    @property
    def max_hours(self) -> float | None:
        """The time limit, if there is one."""
        rule = self.stop(MaxHours)
        return rule.hours if rule else None


def _by_name(rule: StoppingRule) -> dict[str, Any]:
    """Return the arguments of a stopping rule, the first under its own name: `min_lr`, `early_stopping.min_delta`."""
    (_, first), *others = rule.arguments.items()
    return {rule.name: first, **{f"{rule.name}.{key}": value for key, value in others}}


def _read(changes: Mapping[str, Any], values: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of training rules after some changes; whole components come before single arguments."""
    changes = check_value(changes, dict[str, Any], TrainingRules.description)
    for key in sorted(changes, key=lambda key: key.count(".")):
        head, *rest = key.split(".")
        value = changes[key]
        for part in reversed(rest):
            value = {part: value}
        values = {**values, head: _read_field(head, value, values.get(head))}
    return values


def _read_field(name: str, value: Any, current: Any) -> Any:
    if name not in {field.name for field in fields(TrainingRules)}:
        raise UnknownNameError(
            f"{TrainingRules.description} have no '{name}'.{_nearest(name)} Known: {', '.join(_keys())}."
        )
    if name == "optimizer":
        return read_component(OPTIMIZERS, value, current)
    if name == "schedule":
        return read_component(SCHEDULES, value, current)
    if name == "stopping":
        return read_stopping(value, current or ())
    if value == NONE:
        return None
    if name == "cross_validation" and isinstance(value, Mapping):
        before = vars(current) if current else {}
        return CrossValidation(**resolve_arguments(CrossValidation, {**before, **value}, "the cross-validation"))
    return value


def _keys() -> list[str]:
    """Return every key that a rule can be changed by."""
    parts: dict[str, Registry[Any]] = {"optimizer": OPTIMIZERS, "schedule": SCHEDULES}
    result = [field.name for field in fields(TrainingRules)] + [f"stopping.{name}" for name in STOPPING]
    for part, registry in parts.items():
        result += [f"{part}.{field.name}" for name in registry for field in fields(registry.get(name))]
    return list(dict.fromkeys(result + [f"cross_validation.{field.name}" for field in fields(CrossValidation)]))


def _nearest(name: str) -> str:
    """Return the key that is meant, by its last part: `patience` is `schedule.patience`."""
    last = {key.rpartition(".")[2]: key for key in reversed(_keys())}
    words = did_you_mean(name, last)
    near = words.partition("'")[2].rpartition("'")[0]
    return f" Did you mean '{last[near]}'?" if near else ""
