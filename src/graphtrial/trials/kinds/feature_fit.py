"""A trial of a support vector machine on the features of nodes or of pairs: what they are worth without any graph."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sklearn.svm import SVC

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.spec import Component
from graphtrial.datasets import Dataset
from graphtrial.datasets.generators.draws import Draws
from graphtrial.graphs.column import PAIRS
from graphtrial.svm.rules import MACHINE, FeatureFitRules
from graphtrial.training.outcome import Outcome

Array = npt.NDArray[Any]
CACHE_MEGABYTES = 500
ROWS = 4096


def resolve_machine(dataset: Dataset, model: Component) -> Component:
    """Return the machine as part of a trial; it has no settings beyond its rules, and needs features as numbers."""
    if model.name != MACHINE or model.arguments:
        raise GraphTrialError(
            f"under these rules the model is '{MACHINE}' without settings, not '{model}'; its penalty is a rule"
        )
    x = dataset.graphs.columns.get("x")
    if dataset.spec.split_level not in ("node", "pair") or x is None or x.types is not None:
        raise GraphTrialError(f"{dataset.name} has no nodes or pairs with features as numbers, as such a machine needs")
    return Component(MACHINE, {})


def try_features(dataset: Dataset, rules: FeatureFitRules, *, split: int, seed: int) -> Outcome:
    """Fit a machine to the training part of a split and score all parts by the task's own metric."""
    start = time.perf_counter()
    pairs = dataset.spec.split_level == "pair"
    parts = dict(dataset.splits[split].parts)
    examples = _pairs(dataset, parts, rules, seed) if pairs else _nodes(dataset, parts, rules, seed)
    x, y = examples["train"]
    kernel = Gaussian(x)
    machine = SVC(C=rules.penalty, kernel="precomputed", cache_size=CACHE_MEGABYTES).fit(kernel.with_all(x), y)
    answers = {part: _answers(machine, kernel, *found, dataset.task.outputs) for part, found in examples.items()}
    scores = {part: dataset.task.score(*found) for part, found in answers.items()}
    further = dataset.task.further(*answers["test"])
    details: dict[str, Any] = {"seconds": time.perf_counter() - start, "support_vectors": int(machine.n_support_.sum())}
    return Outcome("done", 0, [], scores, details=details | ({"further": further} if further else {}))


def _nodes(
    dataset: Dataset, parts: dict[str, Array], rules: FeatureFitRules, seed: int
) -> dict[str, tuple[Array, Array]]:
    x, y = _features(dataset), np.asarray(dataset.graphs.column("y").values).reshape(-1)
    parts["train"] = _some(parts["train"], rules.examples, Draws(seed, 0))
    return {part: (x[ids], y[ids]) for part, ids in parts.items()}


def _pairs(
    dataset: Dataset, parts: dict[str, Array], rules: FeatureFitRules, seed: int
) -> dict[str, tuple[Array, Array]]:
    """Return the examples of each part; training gets as many pairs that are not linked as it has links."""
    x, draws = _features(dataset), Draws(seed, 0)
    pairs, linked = (np.asarray(dataset.graphs.column(name).values, np.int64) for name in (PAIRS, "y"))
    used = np.zeros(len(pairs), bool)
    used[np.concatenate(list(parts.values()))] = True
    links = _some(parts["train"], rules.examples // 2, draws)
    known = np.flatnonzero(~used & (linked == 0))
    others = pairs[_some(known, len(links), draws)] if len(known) else draws.below(np.full((len(links), 2), len(x)))
    found = {part: (pairs[ids], linked[ids]) for part, ids in parts.items() if part != "train"}
    y = np.repeat([1, 0], [len(links), len(others)])
    found = {"train": (np.concatenate([pairs[links], others]), y), **found}
    return {part: (x[ends].reshape(len(ends), -1), y) for part, (ends, y) in found.items()}


def _some(ids: Array, most: int, draws: Draws) -> Array:
    """Return at most so many of the ids, drawn at random; 0 is no limit."""
    return ids if not most or len(ids) <= most else ids[np.sort(draws.permutation(len(ids))[:most])]


def _features(dataset: Dataset) -> Array:
    x = np.asarray(dataset.graphs.column("x").values, np.float64)
    return x.reshape(len(x), -1)


def _answers(machine: SVC, kernel: Gaussian, x: Array, y: Array, outputs: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return what the machine says in the form of a model's answers: one-hot classes, or the distance of a pair."""
    said = []
    for first in range(0, len(x), ROWS):
        seen = kernel.with_all(x[first : first + ROWS])
        if outputs == 1:
            said.append(machine.decision_function(seen)[:, None])
        else:
            said.append(np.eye(outputs)[machine.predict(seen).astype(np.int64)])
    return torch.from_numpy(np.concatenate(said)), torch.from_numpy(y.astype(np.int64))


class Gaussian:
    """The kernel exp(-g |x - y|^2) with some examples, as matrix products: the library's own loop takes minutes."""

    def __init__(self, x: Array) -> None:
        self.x = x
        self.squares = (x * x).sum(axis=1)
        spread = float(x.var())
        self.rate = 1 / (x.shape[1] * spread) if spread else 1.0

    def with_all(self, x: Array) -> Array:
        """Return the kernel of each row of x with each of the examples."""
        apart = (x * x).sum(axis=1)[:, None] + self.squares - 2 * (x @ self.x.T)
        return np.exp(-self.rate * np.maximum(apart, 0.0))
