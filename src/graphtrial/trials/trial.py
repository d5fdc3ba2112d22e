"""Specification of a trial, one training or one fit; its id is the hash of everything that determines the result."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.hardware.compute import ONE_CORE, Compute
from graphtrial.core.rules import Rules
from graphtrial.core.spec import Component, canonical_json, declared_defaults, digest, without_defaults
from graphtrial.datasets import Dataset, load
from graphtrial.datasets.part_labels import check_part_labels
from graphtrial.encodings.notation import parts_of
from graphtrial.training.batches import Job
from graphtrial.training.outcome import Epoch, Outcome
from graphtrial.trials.fields import (
    Check,
    check_fields,
    is_component,
    is_count,
    is_hashes,
    is_name,
    is_plain,
    is_sha256,
)
from graphtrial.trials.kinds import TrialKind, kind_of, rules_from
from graphtrial.trials.provenance import check_plugins, check_versions, current_versions, source_digests

if TYPE_CHECKING:
    from graphtrial.training.checkpoint import Checkpoint


@dataclass(frozen=True)
class TrialSpec:
    """Everything that determines the result of a trial.

    `model` is a model, a kernel, or `svm` for a support vector machine on features: the kind of trial decides. It and
    the encoding have the arguments that differ from their declared defaults; `settings` completes them.

    `data` is the content hash of graphs and splits, so that a result can never be mistaken for one on other data.
    `plugins` names the files outside this package that the trial's parts come from, with the SHA-256 of each. Versions
    are those of the model or kernel and of the encoding, 0 without one. Without `score_test` it is a trial of a search:
    the same training, whose outcome has no test score.
    """

    dataset: str
    data: str
    split: int
    model: Component
    encoding: Component | None
    encoding_version: int
    protocol: str
    rules: Rules
    seed: int
    plugins: dict[str, str] = field(default_factory=dict)
    model_version: int = 1
    score_test: bool = True

    @cached_property
    def id(self) -> str:
        """Id of the trial: the first 16 hexadecimal digits of the hash of its canonical JSON."""
        return digest(self._plain)[:16]

    @cached_property
    def _plain(self) -> dict[str, Any]:
        """The specification as stored and hashed: without fields that equal a declared default."""
        values = without_defaults({f.name: getattr(self, f.name) for f in fields(self)}, _defaults(type(self)))
        del values["encoding_version"]
        values.pop("model_version", None)
        values["model"] = _component(self.model, self.model_version)
        if self.encoding is None:
            del values["encoding"]
        else:
            values["encoding"] = _component(self.encoding, self.encoding_version)
        return {**values, "rules": self.rules.to_dict()}

    @property
    def row(self) -> dict[str, Any]:
        """The specification shared by the trials of a result row: all but split and seed."""
        return {key: value for key, value in self.to_dict().items() if key not in ("split", "seed")}

    @cached_property
    def kind(self) -> TrialKind[Any]:
        """The kind of trial of the rules."""
        return kind_of(self.rules)

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The settings of the model or kernel, defaults included."""
        return self.kind.settings(self.model, self.model_version)

    @property
    def names(self) -> tuple[str, ...]:
        """Registered names of dataset, model and encoding; the protocol is stored in full."""
        return (self.dataset, self.model.name, *(part.name for part, _ in parts_of(self.encoding)))

    def to_dict(self) -> dict[str, Any]:
        """Return the specification as plain JSON-like values, as it is stored."""
        return copy.deepcopy(self._plain)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> TrialSpec:
        """Build a specification from the values of `to_dict`, which are validated.

        The id is the hash of these values; the model, kernel or plug-in need not be registered.
        """
        check_fields(values, SPECIFICATION, "the specification", _required(cls))
        try:
            rules = _rules_of(canonical_json(values["rules"]))
        except (TypeError, ValueError, LookupError, AttributeError) as error:
            raise GraphTrialError(f"the specification has no valid rules: {error}") from error
        model, encoding = values["model"], values.get("encoding")
        parts = {
            "model": Component(model["name"], dict(model.get("arguments", {}))),
            "model_version": model.get("version", 1),
            "encoding": Component(encoding["name"], dict(encoding.get("arguments", {}))) if encoding else None,
            "encoding_version": encoding.get("version", 1) if encoding else 0,
            "rules": rules,
        }
        spec = cls(**{**values, **parts})
        vars(spec)["_plain"] = copy.deepcopy(values)
        return spec


SPECIFICATION: dict[str, Check] = {
    "dataset": is_name,
    "data": is_sha256,
    "split": is_count,
    "model": is_component,
    "encoding": is_component,
    "protocol": is_name,
    "rules": is_plain,
    "seed": is_count,
    "plugins": is_hashes,
    "score_test": lambda value: value is False,  # true is the default, which is never stored
}
"""Check of each field of a stored specification. A new field needs a line here and a default above."""


def _component(component: Component, version: int) -> dict[str, Any]:
    values: dict[str, Any] = {"name": component.name}
    if component.arguments:
        values["arguments"] = component.arguments
    return {**values, "version": version} if version > 1 else values


def _required(kind: type[TrialSpec]) -> set[str]:
    """Return the fields of every stored specification; those with a default are stored where they differ from it."""
    return {f.name for f in fields(kind) if f.name in SPECIFICATION and f.name not in _defaults(kind)} - {"encoding"}


_defaults: Callable[[Any], dict[str, Any]] = lru_cache(declared_defaults)


@lru_cache(maxsize=256)
def _rules_of(text: str) -> Rules:
    """Return immutable rules, cached: thousands of trials in a store share a few, and validation is slow."""
    return rules_from(json.loads(text))


def make_trial(
    dataset: Dataset,
    model: Component,
    encoding: Component | None,
    protocol: str,
    rules: Rules,
    *,
    split: int,
    seed: int,
) -> TrialSpec:
    """Return the specification of a trial on a dataset; model or kernel are resolved."""
    kind = kind_of(rules)
    splits = kind.split_count(dataset) or 0
    if not 0 <= split < splits:
        raise GraphTrialError(f"{dataset.name} has splits 0 to {splits - 1}; there is no split {split}")
    kind.check_dataset(dataset)
    if kind.has_epochs and not kind.draws_folds:
        check_part_labels(dataset, split)
    model_version, encoding_version = current_versions(kind, model.name, encoding)
    return TrialSpec(
        dataset=dataset.name,
        data=dataset.hash,
        split=split,
        model=model,
        encoding=encoding,
        encoding_version=encoding_version,
        protocol=protocol,
        rules=rules,
        seed=seed,
        plugins=source_digests(kind, dataset.name, model.name, encoding, dataset.task),
        model_version=model_version,
    )


def make_job(spec: TrialSpec) -> Job:
    """Load the data of a training, compute its encoding, and return the job of the training loop."""
    dataset = _same_data(spec)
    check_versions(spec)
    return spec.kind.job(spec, dataset)


def run_trial(
    spec: TrialSpec,
    checkpoint: Path | Checkpoint,
    on_epoch: Callable[[Epoch], None] = lambda epoch: None,
    compute: Compute = ONE_CORE,
) -> Outcome:
    """Run one trial, resuming from its checkpoint if there is one."""
    check_plugins(spec)
    check_versions(spec)
    if not spec.score_test and not spec.kind.has_epochs:
        raise GraphTrialError(f"trial {spec.id} fits a support vector machine, which always has a test score")
    return spec.kind.run(spec, _same_data(spec), checkpoint, on_epoch, compute)


def _same_data(spec: TrialSpec) -> Dataset:
    dataset = load(spec.dataset)
    if dataset.hash != spec.data:
        raise GraphTrialError(
            f"trial {spec.id} was made for other data: {spec.dataset} had hash {spec.data[:12]} and now has "
            f"{dataset.hash[:12]}. Another source is in use; `graphtrial data info {spec.dataset}` shows which."
        )
    return dataset
