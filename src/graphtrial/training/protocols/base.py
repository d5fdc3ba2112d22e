"""Base class and registry of protocols."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from graphtrial.core.registry import Registry
from graphtrial.core.rules import Rules
from graphtrial.training.cross_validation import CrossValidation
from graphtrial.training.optim.optimizers.adam import Adam
from graphtrial.training.optim.schedules.plateau import Plateau
from graphtrial.training.optim.stopping.max_epochs import MaxEpochs
from graphtrial.training.optim.stopping.max_hours import MaxHours
from graphtrial.training.optim.stopping.min_lr import MinLR
from graphtrial.training.rules import Scoring, TrainingRules


@dataclass(frozen=True)
class Protocol:
    """The rules, the seeds and the source of one published way to train on one dataset, or to try kernels.

    A protocol never changes under its name and version. `exceptions` are rules that a single model has instead, by its
    name or, for one depth alone, by name and layers such as `gcn/16`. `interval` is the
    confidence interval of a mean over trials in the paper: Student's t or bootstrap. `kernel_rules` are those of graph
    kernels, where a protocol is for networks and kernels on the same folds.
    """

    name: str
    version: int
    rules: Rules
    seeds: tuple[int, ...]
    splits: int
    paper: str
    notes: tuple[str, ...] = ()
    exceptions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    interval: Literal["t", "bootstrap"] = "t"
    kernel_rules: Rules | None = None

    def first_seeds(self, count: int) -> tuple[int, ...]:
        """Return that many seeds: the published ones in their order, then derived ones.

        The derived seed number k, counted from 0 after the published ones, is the first 31 bits of the SHA-256 of
        `NAME seed k`, such as `bgnn-v5/zinc seed 0`; one that is there already is left out.
        """
        first = self.seeds[:count]
        return first + self._derived("seed", count - len(first), first)

    def tuning_seeds(self, count: int, test_seeds: Sequence[int]) -> tuple[int, ...]:
        """Return so many seeds of a hyperparameter search, derived from `NAME tuning seed k`; none is tested on."""
        return self._derived("tuning seed", count, test_seeds)

    def _derived(self, label: str, count: int, taken: Sequence[int]) -> tuple[int, ...]:
        seeds: list[int] = []
        number = 0
        while len(seeds) < count:
            text = f"{self.name} {label} {number}".encode()
            seed = int.from_bytes(hashlib.sha256(text).digest()[:4], "big") >> 1
            seeds += [seed] if seed not in (*taken, *seeds) else []
            number += 1
        return tuple(seeds)

    def rules_for(self, model: str, layers: int | None = None, changes: Mapping[str, Any] | None = None) -> Rules:
        """Return the rules of a model of this depth, or of a kernel; `changes` to single rules go before everything."""
        from graphtrial.nn.registry import MODELS  # imports torch, which listing protocols does without

        if self.kernel_rules is not None and model not in MODELS:
            return self.kernel_rules.changed(changes or {})
        special = {**self.exceptions.get(model, {}), **self.exceptions.get(f"{model}/{layers}", {})}
        return self.rules.changed(special).changed(changes or {})


PROTOCOLS: Registry[Protocol] = Registry(
    "protocol",
    "graphtrial.training.protocols",
    fits=lambda thing: isinstance(thing, Protocol),
    wanted="a graphtrial.Protocol",
)


def adam_on_plateau(
    batch_size: int,
    lr: float,
    patience: int,
    min_lr: float,
    *,
    weight_decay: float = 0.0,
    max_epochs: int = 1000,
    max_hours: float = 12.0,
    monitor: Literal["val_loss", "val_score"] = "val_loss",
    evaluate: Literal["last", "best"] = "last",
    cross_validation: CrossValidation | None = None,
) -> TrainingRules:
    """Return the rules of the papers: Adam, the learning rate halved on a plateau until it is below `min_lr`."""
    return TrainingRules(
        batch_size=batch_size,
        optimizer=Adam(lr=lr, weight_decay=weight_decay),
        schedule=Plateau(factor=0.5, patience=patience),
        stopping=(MinLR(min_lr), MaxEpochs(max_epochs), MaxHours(max_hours)),
        monitor=monitor,
        evaluate=evaluate,
        cross_validation=cross_validation,
    )


def declare(
    name: str,
    rules: Rules,
    *notes: str,
    paper: str,
    seeds: tuple[int, ...],
    splits: int = 1,
    exceptions: Mapping[str, Mapping[str, Any]] | None = None,
    interval: Literal["t", "bootstrap"] = "t",
    common_notes: tuple[str, ...] = (),
    kernel_rules: Rules | None = None,
) -> None:
    """Register the first version of a protocol; `common_notes` are those of all protocols of a paper."""
    notes = (*common_notes, *notes)
    protocol = Protocol(name, 1, rules, seeds, splits, paper, notes, exceptions or {}, interval, kernel_rules)
    PROTOCOLS.add(name, protocol)


def declare_editions(name: str, rules: TrainingRules, *notes: str, scoring: Scoring = "batches", **facts: Any) -> None:
    """Register a protocol that scores all examples, and `NAME-as-published`, which averages the scores of batches."""
    declare(name, rules, OVER_EXAMPLES, *notes, **facts)
    declare(f"{name}-as-published", rules.changed({"scoring": scoring}), SCORING[scoring], *notes, **facts)


OVER_EXAMPLES = "Scores are taken over all examples of a split; the released code averages the scores of batches."
SCORING: dict[str, str] = {
    "batches": "Losses and scores are means over batches, as in the released code.",
    "batches-softmax-rows": "Losses and scores are means over batches, and the accuracy takes the softmax over the "
    "nodes of a batch instead of over classes, as in the released code.",
}
