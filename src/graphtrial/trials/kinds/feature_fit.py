"""A support vector machine on the features of nodes or pairs, which ignores the graph."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.hardware.compute import Compute
from graphtrial.core.spec import Component
from graphtrial.datasets import Dataset
from graphtrial.datasets.generators.draws import Draws
from graphtrial.graphs.column import PAIRS
from graphtrial.svm.rules import MACHINE, MACHINE_TITLE, FeatureFitRules
from graphtrial.training.outcome import EXTRA_METRICS, Epoch, Outcome
from graphtrial.trials.kinds.base import TrialKind

if TYPE_CHECKING:
    from sklearn.svm import SVC

    from graphtrial.training.checkpoint import Checkpoint
    from graphtrial.trials.trial import TrialSpec

Array = npt.NDArray[Any]
CACHE_MEGABYTES = 500
ROWS = 4096


class FeatureFit(TrialKind[FeatureFitRules]):
    """Fit a support vector machine with a Gaussian kernel to the features of nodes or of pairs, ignoring the edges."""

    rules_types = (FeatureFitRules,)
    fixed_seeds = True
    needs_sklearn = True

    def resolve(self, model: Component) -> Component:
        if model.name != MACHINE or model.arguments:
            raise GraphTrialError(
                f"under these rules the model is '{MACHINE}' without settings, not '{model}'; its penalty is a rule"
            )
        return model

    def check_dataset(self, dataset: Dataset) -> None:
        x = dataset.graphs.columns.get("x")
        if dataset.spec.split_level not in ("node", "pair") or x is None or x.types is not None:
            raise GraphTrialError(
                f"{dataset.name} has no nodes or pairs with numeric features, which this machine needs"
            )
        if dataset.task.output_type == "ranking":
            raise GraphTrialError(f"{dataset.name} ranks links within queries; this machine classifies pairs only")

    @property
    def is_deterministic(self) -> bool:
        return self.rules.is_deterministic

    def run(
        self,
        spec: TrialSpec,
        dataset: Dataset,
        checkpoint: Path | Checkpoint,
        on_epoch: Callable[[Epoch], None],
        compute: Compute,
    ) -> Outcome:
        """Fit the machine; there is no checkpoint, as it takes seconds to minutes."""
        return fit_features(dataset, self.rules, split=spec.split, seed=spec.seed)

    def title(self, name: str) -> str:
        return MACHINE_TITLE if name == MACHINE else name


def fit_features(dataset: Dataset, rules: FeatureFitRules, *, split: int, seed: int) -> Outcome:
    """Fit a machine to the training set and score train, val and test by the metric of the task."""
    from sklearn.svm import SVC

    start = time.perf_counter()
    pairs = dataset.spec.split_level == "pair"
    parts = dict(dataset.splits[split].parts)
    examples = _pairs(dataset, parts, rules, seed) if pairs else _nodes(dataset, parts, rules, seed)
    x, y = examples["train"]
    kernel = Gaussian(x)
    machine = SVC(C=rules.penalty, kernel="precomputed", cache_size=CACHE_MEGABYTES).fit(kernel.with_all(x), y)
    predictions = {part: _predictions(machine, kernel, *each, dataset.task.outputs) for part, each in examples.items()}
    scores = {part: dataset.task.score(*each) for part, each in predictions.items()}
    extra = dataset.task.extra_scores(*predictions["test"])
    details: dict[str, Any] = {"seconds": time.perf_counter() - start, "support_vectors": int(machine.n_support_.sum())}
    return Outcome("done", 0, [], scores, details=details | ({EXTRA_METRICS: extra} if extra else {}))


def _nodes(
    dataset: Dataset, parts: dict[str, Array], rules: FeatureFitRules, seed: int
) -> dict[str, tuple[Array, Array]]:
    x, y = _features(dataset), np.asarray(dataset.graphs.column("y").values).reshape(-1)
    parts["train"] = _some(parts["train"], rules.examples, Draws(seed, 0))
    return {part: (x[ids], y[ids]) for part, ids in parts.items()}


def _pairs(
    dataset: Dataset, parts: dict[str, Array], rules: FeatureFitRules, seed: int
) -> dict[str, tuple[Array, Array]]:
    """Return the examples of each part; training gets one negative pair per link."""
    x, draws = _features(dataset), Draws(seed, 0)
    pairs, linked = (np.asarray(dataset.graphs.column(name).values, np.int64) for name in (PAIRS, "y"))
    used = np.zeros(len(pairs), bool)
    used[np.concatenate(list(parts.values()))] = True
    links = _some(parts["train"], rules.examples // 2, draws)
    free = np.flatnonzero(~used & (linked == 0))
    negatives = pairs[_some(free, len(links), draws)] if len(free) else draws.below(np.full((len(links), 2), len(x)))
    y = np.repeat([1, 0], [len(links), len(negatives)])
    examples = {"train": (np.concatenate([pairs[links], negatives]), y)}
    examples |= {part: (pairs[ids], linked[ids]) for part, ids in parts.items() if part != "train"}
    return {part: (x[ends].reshape(len(ends), -1), y) for part, (ends, y) in examples.items()}


def _some(ids: Array, most: int, draws: Draws) -> Array:
    """Sample at most `most` ids without replacement; 0 means no limit."""
    return ids if not most or len(ids) <= most else ids[np.sort(draws.permutation(len(ids))[:most])]


def _features(dataset: Dataset) -> Array:
    x = np.asarray(dataset.graphs.column("x").values, np.float64)
    return x.reshape(len(x), -1)


def _predictions(machine: SVC, kernel: Gaussian, x: Array, y: Array, outputs: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return predictions and targets for the metric: one-hot classes, or the decision function of a pair."""
    predictions = []
    for first in range(0, len(x), ROWS):
        gram = kernel.with_all(x[first : first + ROWS])
        if outputs == 1:
            predictions.append(machine.decision_function(gram)[:, None])
        else:
            predictions.append(np.eye(outputs)[machine.predict(gram).astype(np.int64)])
    return torch.from_numpy(np.concatenate(predictions)), torch.from_numpy(y.astype(np.int64))


class Gaussian:
    """Gaussian kernel exp(-gamma |x - y|^2) with fixed examples, as matrix products.

    scikit-learn's own loop takes minutes.
    """

    def __init__(self, x: Array) -> None:
        self.x = x
        self.squares = (x * x).sum(axis=1)
        variance = float(x.var())
        self.gamma = 1 / (x.shape[1] * variance) if variance else 1.0

    def with_all(self, x: Array) -> Array:
        """Return the Gram matrix [rows of x, examples]."""
        distance = (x * x).sum(axis=1)[:, None] + self.squares - 2 * (x @ self.x.T)
        gram: Array = np.exp(-self.gamma * np.maximum(distance, 0.0))
        return gram
