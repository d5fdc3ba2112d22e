"""Training of a model by gradient descent, epoch by epoch."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.hardware.compute import Compute
from graphtrial.core.registry import version_of
from graphtrial.core.spec import Component
from graphtrial.datasets import DATASETS, Dataset, Split
from graphtrial.encodings import encode
from graphtrial.nn import MODELS, Shapes, build_model, resolve_settings
from graphtrial.nn.encoder import ENCODING_COLUMN
from graphtrial.nn.registry import differing_settings, model_settings, width_step
from graphtrial.tasks import Task
from graphtrial.tasks.batch_scores import BatchScores
from graphtrial.training.batches import Ids, Job
from graphtrial.training.optim.base import Unregistered
from graphtrial.training.optim.schedules.constant import Constant
from graphtrial.training.optim.schedules.plateau import Plateau
from graphtrial.training.optim.stopping.early_stopping import EarlyStopping
from graphtrial.training.optim.stopping.max_epochs import MaxEpochs
from graphtrial.training.optim.stopping.min_lr import MinLR
from graphtrial.training.outcome import Epoch, Outcome
from graphtrial.training.rules import TrainingRules
from graphtrial.training.trainer import train
from graphtrial.trials.kinds.base import TrialKind
from graphtrial.trials.kinds.folds import fold_of
from graphtrial.trials.shapes import make_encoding, shapes_for

if TYPE_CHECKING:
    from graphtrial.training.checkpoint import Checkpoint
    from graphtrial.trials.trial import TrialSpec

TIMED_BATCHES = 3
"""Batches of a timed epoch; the second epoch is timed, when caches are warm."""


class Training(TrialKind[TrainingRules]):
    """Train a model on the training set of a split, or of a fold drawn by the seed, and test it."""

    rules_types = (TrainingRules,)
    has_epochs = True
    uses_device = True
    takes_encodings = True

    def resolve(self, model: Component) -> Component:
        return Component(model.name, differing_settings(model.name, resolve_settings(model.name, model.arguments)))

    def settings(self, model: Component, version: int | None = None) -> dict[str, Any]:
        if model.name not in MODELS or version not in (None, self.version(model.name)):
            return model.arguments
        try:
            return resolve_settings(model.name, model.arguments)
        except GraphTrialError:  # a setting of a later release
            return model.arguments

    def check_settings(self, name: str, settings: Mapping[str, Any]) -> None:
        given = dict(settings)
        if "width" in model_settings(name) and "width" not in given:  # published, or the widest within the budget
            given["width"] = width_step(name, given)
        resolve_settings(name, given)

    def check_dataset(self, dataset: Dataset) -> None:
        self._task(dataset)

    def shapes(self, shapes: Shapes) -> Shapes:
        return replace(shapes, outputs=1) if self.rules.single_logit else shapes

    def _task(self, dataset: Dataset) -> Task:
        """Return the task of the dataset as the rules read it."""
        task = dataset.task.single_logit() if self.rules.single_logit else dataset.task
        scoring = self.rules.scoring
        return task if scoring == "examples" else BatchScores(task, softmax_rows=scoring == "batches-softmax-rows")

    def version(self, name: str) -> int:
        return version_of(MODELS, name)

    def origins(self, name: str) -> tuple[Any, ...]:
        rules = self.rules
        components = (rules.optimizer, rules.schedule, *rules.stopping)
        return (MODELS.get(name), *(type(one) for one in components if not isinstance(one, Unregistered)))

    @property
    def changed_version(self) -> str:
        rules = self.rules
        for kind, component in (
            ("optimizer", rules.optimizer),
            ("schedule", rules.schedule),
            *(("stopping rule", rule) for rule in rules.stopping),
        ):
            if isinstance(component, Unregistered):
                return (
                    f"version {component.given.get('version', 1)} of {kind} '{component.name}', which is not known here"
                )
        return ""

    @property
    def draws_folds(self) -> bool:
        return self.rules.cross_validation is not None and not self.is_nested

    @property
    def is_nested(self) -> bool:
        return self.rules.cross_validation is not None and self.rules.cross_validation.fold_seed is not None

    def split_count(self, dataset: Dataset | None) -> int | None:
        folds = self.rules.cross_validation
        return super().split_count(dataset) if folds is None else folds.folds

    def run(
        self,
        spec: TrialSpec,
        dataset: Dataset,
        checkpoint: Path | Checkpoint,
        on_epoch: Callable[[Epoch], None],
        compute: Compute,
    ) -> Outcome:
        return train(self.job(spec, dataset), checkpoint, on_epoch, compute)

    def job(self, spec: TrialSpec, dataset: Dataset) -> Job:
        encoding = make_encoding(spec.encoding)
        split = self._split(spec, dataset)
        shapes = self.shapes(shapes_for(dataset, encoding, split.train))
        return Job(
            graphs=encode(dataset.graphs, encoding, ENCODING_COLUMN) if encoding else dataset.graphs,
            train_ids=split.train,
            val_ids=split.val,
            test_ids=split.test,
            task=self._task(dataset),
            build=lambda: build_model(spec.model.name, shapes, spec.settings),
            rules=self.rules,
            seed=spec.seed,
            encoding=encoding,
            split_level=dataset.spec.split_level,
            score_test=spec.score_test,
        )

    def _split(self, spec: TrialSpec, dataset: Dataset) -> Split:
        """Return the split of the dataset, or the fold that the seed draws."""
        folds = self.rules.cross_validation
        if folds is None:
            return dataset.splits[spec.split]
        if dataset.spec.split_level != "graph":
            raise GraphTrialError(f"{dataset.name} is a single graph: there are no graphs to draw folds from")
        return Split(*fold_of(spec, dataset, folds))

    def can_vectorize(self, spec: TrialSpec) -> bool:
        """Whether the trial classifies nodes of one graph, on a fixed split, by a model with a vectorized form."""
        from graphtrial.nn.vectorized import vectorized_models

        rules = self.rules
        if rules.cross_validation or rules.accumulation != 1 or rules.precision != 32 or spec.encoding is not None:
            return False
        if rules.single_logit or rules.scoring != "examples":
            return False
        return DATASETS.get(spec.dataset).split_level == "node" and MODELS.get(spec.model.name) in vectorized_models()

    @property
    def max_hours(self) -> float:
        hours = self.rules.max_hours
        return super().max_hours if hours is None else hours

    @property
    def expected_epochs(self) -> int | None:
        """Approximate number of epochs: a plateau reduces the learning rate about once every 2 (patience + 1) epochs.

        With other schedules it is the epoch limit.
        """
        rules, schedule, end = self.rules, self.rules.schedule, self.rules.stop(MinLR)
        lr = rules.optimizer.arguments.get("lr")
        if not isinstance(schedule, Plateau) or end is None or not isinstance(lr, float):
            return rules.max_epochs
        reductions = math.floor(math.log(end.lr / lr) / math.log(schedule.factor)) + 1
        epochs = max(1, reductions * 2 * (schedule.patience + 1))
        return epochs if rules.max_epochs is None else min(rules.max_epochs, epochs)

    @property
    def most_epochs(self) -> int | None:
        return self.rules.max_epochs

    @property
    def least_epochs(self) -> int:
        rules, early, end = self.rules, self.rules.stop(EarlyStopping), self.rules.stop(MinLR)
        limits = [*([rules.max_epochs] if rules.max_epochs else []), *([early.patience + 1] if early else [])]
        if end is not None and not isinstance(rules.schedule, Constant):
            reductions, patience = 1, 0
            lr = rules.optimizer.arguments.get("lr")
            if isinstance(rules.schedule, Plateau) and isinstance(lr, float):
                reductions = math.floor(math.log(end.lr / lr) / math.log(rules.schedule.factor))
                patience = rules.schedule.patience
            limits.append(reductions * (patience + 1))
        return max(1, min(limits, default=1))

    def val_score(self, history: Sequence[Epoch], higher_is_better: bool) -> float | None:
        if not history:
            return None
        if self.rules.evaluate == "last":
            return history[-1].val_score
        if self.rules.monitor == "val_loss":
            return min(history, key=lambda epoch: epoch.val_loss).val_score
        choose = max if higher_is_better else min
        return choose(history, key=lambda epoch: epoch.val_score).val_score

    def estimate_hours(self, epoch_seconds: float) -> float:
        epochs = self.expected_epochs
        return self.max_hours if epochs is None else min(epoch_seconds * epochs / 3600, self.max_hours)

    def measure_epoch(self, spec: TrialSpec, dataset: Dataset) -> float:
        """Train two epochs of a few batches and extrapolate the second one.

        The encoding is left out: it costs next to nothing in a step.
        """
        short = self.rules.changed({"stopping": (MaxEpochs(2),), "schedule": "constant", "evaluate": "last"})
        job = Training(short).job(replace(spec, encoding=None, encoding_version=0), dataset)
        fraction = 1.0
        if job.split_level not in ("node", "edge"):
            fraction = min(1.0, TIMED_BATCHES * short.batch_size / max(1, len(job.train_ids)))
        few = replace(
            job,
            train_ids=_first(job.train_ids, fraction),
            val_ids=_first(job.val_ids, fraction),
            test_ids=_first(job.test_ids, fraction),
        )
        outcome = train(few)
        if len(outcome.epochs) < 2:
            raise GraphTrialError(
                f"{spec.model.name} on {dataset.name} cannot be timed: its training ended as {outcome.status}"
            )
        return outcome.epochs[-1].seconds / fraction

    @property
    def batching(self) -> dict[str, Any]:
        return {"batch_size": self.rules.batch_size, "accumulation": self.rules.accumulation}

    def title(self, name: str) -> str:
        return MODELS.title(name)

    @property
    def selected(self) -> tuple[str, ...]:
        folds = self.rules.cross_validation
        return () if folds is None else folds.select


def _first(ids: Ids, fraction: float) -> Ids:
    return ids[: max(1, round(fraction * len(ids)))]
