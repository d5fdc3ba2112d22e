"""A trial: one training, whose id is the hash of everything that decides its result."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from graphtrial.core.errors import GraphTrialError, UnknownNameError
from graphtrial.core.origins import origin_digests
from graphtrial.core.registry import version_of
from graphtrial.core.spec import Component, canonical_json, digest
from graphtrial.datasets import DATASETS, Dataset, load
from graphtrial.datasets.base import Split
from graphtrial.encodings import ENCODINGS, Encoding, encode
from graphtrial.nn import MODELS, Shapes, build_model, resolve_settings
from graphtrial.nn.encoder import ENCODING_COLUMN
from graphtrial.published.shapes import known_shapes
from graphtrial.svm.rules import FeatureFitRules, KernelFoldRules
from graphtrial.tasks import Task
from graphtrial.training.batches import Job
from graphtrial.training.outcome import Epoch, Outcome
from graphtrial.training.rules import AnyRules, FoldRules, TrainingRules, rules_from
from graphtrial.training.trainer import train
from graphtrial.trials.fields import (
    Check,
    check_fields,
    is_component,
    is_count,
    is_hashes,
    is_name,
    is_plain,
    is_sha256,
    optional,
)


@dataclass(frozen=True)
class TrialSpec:
    """Everything that decides the result of a trial, resolved: no default is left open.

    Under the rules of a training `model` names a model, under those of a support vector machine it names a kernel, or
    `svm` where the machine looks at features.

    `data` is the content hash of graphs and splits, so that a result can never be mistaken for one on other data.
    `plugins` names the files outside this package that the trial's parts come from, with the SHA-256 of each.
    `model_version` is the version of the model or kernel, which enters the identity above 1.
    """

    dataset: str
    data: str
    split: int
    model: Component
    encoding: Component | None
    encoding_version: int
    protocol: str
    rules: AnyRules
    seed: int
    plugins: dict[str, str] = field(default_factory=dict)
    model_version: int = 1

    @cached_property
    def id(self) -> str:
        """The trial's name: the first 16 hexadecimal digits of the hash of its canonical JSON."""
        values = self._identity()
        if not self.plugins:
            del values["plugins"]
        return digest(values)[:16]

    @property
    def row(self) -> dict[str, Any]:
        """What trials of one table row have in common: all but split and seed."""
        values = self._identity()
        del values["split"], values["seed"]
        return values

    def _identity(self) -> dict[str, Any]:
        """Return all fields but a model version of 1: trials made before there were versions keep their names."""
        values = asdict(self)
        if self.model_version == 1:
            del values["model_version"]
        return values

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the model or kernel, defaults included."""
        return self.model.arguments

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the things that the trial is made of; its protocol is written out."""
        return (self.dataset, self.model.name, *([self.encoding.name] if self.encoding else []))

    def to_dict(self) -> dict[str, Any]:
        """Return the specification as plain JSON-like values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> TrialSpec:
        """Read a specification that `to_dict` wrote, whoever sent it; what is no specification is an error."""
        check_fields(values, SPECIFICATION, "the specification", _needed(cls))
        encoding = values["encoding"]
        try:
            rules = _rules_of(canonical_json(values["rules"]))
        except (TypeError, ValueError, LookupError, AttributeError) as error:
            raise GraphTrialError(f"the specification has no valid rules: {error}") from error
        return cls(
            **{
                **values,
                "model": Component(**values["model"]),
                "encoding": Component(**encoding) if encoding else None,
                "rules": rules,
            }
        )


SPECIFICATION: dict[str, Check] = {
    "dataset": is_name,
    "data": is_sha256,
    "split": is_count,
    "model": is_component,
    "encoding": optional(is_component),
    "encoding_version": is_count,
    "protocol": is_name,
    "rules": is_plain,
    "seed": is_count,
    "plugins": is_hashes,
    "model_version": is_count,
}
"""What each field of a specification may be. A further field needs a line here and, to be optional, a default above."""


@lru_cache(maxsize=256)
def _rules_of(text: str) -> AnyRules:
    """Return rules that never change; thousands of trials in a store share a few, and checking them takes a while."""
    return rules_from(json.loads(text))


def _needed(kind: type[TrialSpec]) -> set[str]:
    return {f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING}


def make_trial(
    dataset: Dataset,
    model: Component,
    encoding: Component | None,
    protocol: str,
    rules: AnyRules,
    *,
    split: int,
    seed: int,
) -> TrialSpec:
    """Return a fully resolved trial; a setting that nobody knows is an error."""
    if isinstance(rules, KernelFoldRules):
        from graphtrial.trials.kinds.kernel_fold import resolve_kernel

        kernel, used = resolve_kernel(model, rules), _origins(dataset.name, model.name, None, rules, dataset.task)
        made, _ = versions_now(model.name, None, rules)
        return TrialSpec(dataset.name, dataset.hash, split, kernel, None, 0, protocol, rules, seed, used, made)
    there = rules.folds if isinstance(rules, FoldRules) else len(dataset.splits)
    if not 0 <= split < there:
        raise GraphTrialError(f"{dataset.name} has splits 0 to {there - 1}; there is no split {split}")
    if isinstance(rules, FeatureFitRules):
        from graphtrial.trials.kinds.feature_fit import resolve_machine

        machine, used = resolve_machine(dataset, model), _origins(dataset.name, model.name, None, rules, dataset.task)
        return TrialSpec(dataset.name, dataset.hash, split, machine, None, 0, protocol, rules, seed, used)
    resolved = Component(model.name, resolve_settings(model.name, model.arguments))
    made, version = versions_now(model.name, encoding, rules)
    used = _origins(dataset.name, model.name, encoding, rules, dataset.task)
    return TrialSpec(dataset.name, dataset.hash, split, resolved, encoding, version, protocol, rules, seed, used, made)


def _origins(
    dataset: str, model: str, encoding: Component | None, rules: AnyRules, task: Task | None = None
) -> dict[str, str]:
    """Return the files outside this package that decide the result of a trial; its protocol is written out in it.

    The task is that of the dataset as loaded, which only a dataset from outside can have from yet another file.
    """
    kind = DATASETS.get(dataset)
    things: list[Any] = [kind]
    if origin_digests(kind):
        things.append(type(task or load(dataset).task))
    if isinstance(rules, KernelFoldRules):
        from graphtrial.kernels import KERNELS

        things.append(KERNELS.get(model))
    elif not isinstance(rules, FeatureFitRules):
        things.append(MODELS.get(model))
    if encoding:
        things.append(ENCODINGS.get(encoding.name))
    return origin_digests(*things)


def versions_now(model: str, encoding: Component | None, rules: AnyRules) -> tuple[int, int]:
    """Return the versions of the model and of the encoding that a trial would be made with.

    1 where there is neither model nor kernel, 0 without an encoding.
    """
    made = 1
    if isinstance(rules, TrainingRules):
        made = version_of(MODELS, model)
    elif isinstance(rules, KernelFoldRules):
        from graphtrial.kernels import KERNELS

        made = version_of(KERNELS, model)
    return made, version_of(ENCODINGS, encoding.name) if encoding else 0


def make_encoding(component: Component | None) -> Encoding | None:
    """Build the encoding that a component names."""
    return ENCODINGS.get(component.name)(**component.arguments) if component else None


def shapes_for(dataset: Dataset, encoding: Encoding | None) -> Shapes:
    """Return the shapes a model must have for this dataset and encoding.

    What stands for an edge without features is the papers' choice, which the data do not show. The mean size is that
    of the graphs that some split trains on: all of them in a cross-validation.
    """
    replaces = dataset.spec.encoding_mode == "replace"
    width = encoding.width if encoding else 0
    shapes = Shapes.of(dataset.graphs, dataset.task, encoding_dim=width, encoding_replaces=replaces)
    if dataset.spec.split_level == "graph" and dataset.splits:
        trained = np.unique(np.concatenate([np.asarray(split.train) for split in dataset.splits]))
        if len(trained):
            shapes = replace(shapes, mean_nodes=float(dataset.graphs.node_counts[trained].mean()))
    known = known_shapes(dataset.name)
    return replace(shapes, edge_ones=known.edge_ones) if known else shapes


def make_job(spec: TrialSpec) -> Job:
    """Bring a specification to life: load the data, compute the encoding, and say how the model is built."""
    dataset = _same_data(spec)
    if isinstance(spec.rules, KernelFoldRules | FeatureFitRules):
        raise GraphTrialError(f"trial {spec.id} tries a support vector machine, which is not trained in epochs")
    check_versions(spec)
    encoding = make_encoding(spec.encoding)
    shapes = shapes_for(dataset, encoding)
    graphs = encode(dataset.graphs, encoding, ENCODING_COLUMN) if encoding else dataset.graphs
    split = _split(dataset, spec)
    return Job(
        graphs=graphs,
        train_ids=split.train,
        val_ids=split.val,
        test_ids=split.test,
        task=dataset.task,
        build=lambda: build_model(spec.model.name, shapes, spec.settings),
        rules=spec.rules,
        seed=spec.seed,
        encoding=encoding,
        split_level=dataset.spec.split_level,
    )


def _split(dataset: Dataset, spec: TrialSpec) -> Split:
    """Return the split of the dataset, or the fold that the rules let the seed draw."""
    if not isinstance(spec.rules, FoldRules):
        return dataset.splits[spec.split]
    if dataset.spec.split_level != "graph":
        raise GraphTrialError(f"{dataset.name} is a single graph: there are no graphs to draw folds from")
    from graphtrial.svm.cross_validation import fold_of

    return Split(*fold_of(len(dataset.graphs), spec.rules, fold=spec.split, seed=spec.seed))


def _same_data(spec: TrialSpec) -> Dataset:
    dataset = load(spec.dataset)
    if dataset.hash != spec.data:
        raise GraphTrialError(
            f"trial {spec.id} was made for other data: {spec.dataset} had hash {spec.data[:12]} and now has "
            f"{dataset.hash[:12]}. Another source is in use; `graphtrial data info {spec.dataset}` shows which."
        )
    return dataset


def check_plugins(spec: TrialSpec) -> None:
    """Raise an error unless the files of the user's own that define the trial's parts are those it was made with."""
    try:
        now = _origins(spec.dataset, spec.model.name, spec.encoding, spec.rules)
    except UnknownNameError:
        if not spec.plugins:
            raise
        now = {}
    for name, expected in spec.plugins.items():
        if now.get(name) != expected:
            state = "has changed since" if name in now else "is not loaded: give it by --plugin"
            raise GraphTrialError(f"trial {spec.id} was made with {name} (sha256 {expected[:12]}), which {state}")
    for name in now:
        if name not in spec.plugins:
            raise GraphTrialError(f"trial {spec.id} was made without {name}, which defines a part of it here")


def check_versions(spec: TrialSpec) -> None:
    """Raise an error if model, kernel or encoding of a trial is of another version now: its numbers would differ."""
    changed = changed_version(spec)
    if changed:
        raise GraphTrialError(f"trial {spec.id} was made with {changed}, whose numbers differ")


def changed_version(spec: TrialSpec) -> str:
    """Return which of model, kernel and encoding of a trial is of another version now, in words; empty for none."""
    model, encoding = versions_now(spec.model.name, spec.encoding, spec.rules)
    for part, then, now in (
        (
            f"{'kernel' if isinstance(spec.rules, KernelFoldRules) else 'model'} '{spec.model.name}'",
            spec.model_version,
            model,
        ),
        (f"encoding '{spec.encoding}'", spec.encoding_version, encoding),
    ):
        if then != now:
            return f"version {then} of {part}; this is version {now}"
    return ""


def run_trial(spec: TrialSpec, checkpoint: Path, on_epoch: Callable[[Epoch], None] = lambda epoch: None) -> Outcome:
    """Run one trial, going on from its checkpoint if there is one."""
    check_plugins(spec)
    if isinstance(spec.rules, KernelFoldRules):
        from graphtrial.trials.kinds.kernel_fold import try_kernel

        check_versions(spec)
        return try_kernel(_same_data(spec), spec.model, spec.rules, fold=spec.split, seed=spec.seed)
    if isinstance(spec.rules, FeatureFitRules):
        from graphtrial.trials.kinds.feature_fit import try_features

        return try_features(_same_data(spec), spec.rules, split=spec.split, seed=spec.seed)
    return train(make_job(spec), checkpoint, on_epoch)
