"""Vectorized training: several trials on one graph in one loop, each with the steps of `trainer.train`."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.hardware.compute import ONE_CORE, Compute
from graphtrial.core.process import compute_settings, seed_everything
from graphtrial.nn import count_parameters
from graphtrial.nn.vectorized import ModelBatch, SharedGraph, TargetNodes, VectorizedForward, vectorized_models
from graphtrial.training.batches import Job
from graphtrial.training.monitor import Monitor
from graphtrial.training.optim.base import Scheduler, StoppingRule
from graphtrial.training.outcome import Epoch, Outcome
from graphtrial.training.trainer import build_optimizer, final_outcome, step

Listener = Callable[[int, Epoch], None]


@dataclass
class Copy:
    """One trial of a vectorized training: model, optimizer, schedule, random generator and history."""

    number: int
    job: Job
    model: nn.Module
    generator: torch.Generator
    optimizer: torch.optim.Optimizer = field(init=False)
    scheduler: Scheduler = field(init=False)
    history: list[Epoch] = field(default_factory=list)
    best_state: dict[str, Tensor] = field(default_factory=dict)
    train_ids: Tensor = field(init=False)
    val_ids: Tensor = field(init=False)
    monitor: Monitor = field(init=False)

    def __post_init__(self) -> None:
        self.monitor = Monitor(self.job.rules, self.job.task)
        self.optimizer, self.scheduler = build_optimizer(self.job, self.model)
        self.train_ids = torch.from_numpy(self.job.train_ids.copy())
        self.val_ids = torch.from_numpy(self.job.val_ids.copy())

    def record(self, epoch: Epoch) -> StoppingRule | None:
        """Record an epoch: step the schedule, save the weights of the best, return why training ends, if it does."""
        if self.job.rules.schedule.every == "epoch":
            self.scheduler.step(self.monitor.value(epoch))
        if self.monitor.is_best(epoch, self.history):
            self.best_state = {name: value.clone() for name, value in self.model.state_dict().items()}
        self.history.append(epoch)
        return self.monitor.stop_reason(self.history, self.lr)

    @property
    def lr(self) -> float:
        """The learning rate of the next step."""
        return float(self.optimizer.param_groups[0]["lr"])


def can_vectorize(job: Job, model: nn.Module) -> bool:
    """Return whether trials can be vectorized: node classification on one graph, no encoding, a supported model."""
    plain = job.split_level == "node" and job.encoding is None and job.task.level == "node"
    return plain and job.rules.accumulation == 1 and job.rules.precision == 32 and type(model) in vectorized_models()


def train_vectorized(
    jobs: Sequence[Job],
    on_epoch: Listener = lambda number, epoch: None,
    on_end: Callable[[int, Outcome], None] = lambda number, outcome: None,
    compute: Compute = ONE_CORE,
) -> list[Outcome]:
    """Train one model per job, all on the same graph, and evaluate each; the trials are independent of each other.

    The jobs differ in split and seed alone. The outcomes are those of `train` up to rounding. `on_epoch` and
    `on_end` are called with the index of the job; a training that has ended takes no more time.
    """
    with compute_settings(compute.threads or 1):
        whole = jobs[0].whole
        for job in jobs[1:]:
            vars(job)["whole"] = whole  # the graph is the same for all, and there is one in memory
        copies = [_begin(number, job) for number, job in enumerate(jobs)]
        if not can_vectorize(jobs[0], copies[0].model) or len({type(copy.model) for copy in copies}) > 1:
            kind = type(copies[0].model).__name__
            raise GraphTrialError(f"trainings of {kind} on this data cannot be vectorized: run them one by one")
        return _train(copies, on_epoch, on_end)


def _begin(number: int, job: Job) -> Copy:
    """Build a model from its seed; its generator continues the random state of the build."""
    seed_everything(job.seed)
    model = job.build()
    generator = torch.Generator()
    generator.set_state(torch.get_rng_state())
    return Copy(number, job, model, generator)


@dataclass(frozen=True)
class Running:
    """The running trainings, with the training and validation nodes of each."""

    copies: Sequence[Copy]
    graph: SharedGraph
    forward: VectorizedForward
    train: TargetNodes
    val: TargetNodes

    @classmethod
    def of(cls, copies: Sequence[Copy], graph: SharedGraph, forward: VectorizedForward) -> Running:
        """Collect the target nodes of all trainings."""
        train, val = (TargetNodes.pad([getattr(copy, name) for copy in copies]) for name in ("train_ids", "val_ids"))
        return cls(copies, graph, forward, train, val)

    def models(self, *, training: bool) -> ModelBatch:
        """Return the models with their random number generators."""
        return ModelBatch([copy.model for copy in self.copies], [copy.generator for copy in self.copies], training)

    def begin(self) -> Any:
        """Return the deterministic part of the forward pass under the current weights."""
        return self.forward.begin(self.models(training=False), self.graph)

    def step(self, hidden: Any, targets: Tensor) -> list[float]:
        """Take one optimizer step of each training and return the losses before it."""
        out = self.forward.finish(self.models(training=True), self.graph, hidden, self.train)
        losses = []
        for copy, rows in zip(self.copies, out.unbind(), strict=True):  # one by one, each would get the gradient of all
            prediction = rows[: len(copy.train_ids)]
            losses.append(copy.job.task.loss(prediction, targets.index_select(0, copy.train_ids)))
            copy.optimizer.zero_grad()
        stacked = torch.stack(losses)
        stacked.sum().backward()
        values: list[float] = stacked.tolist()
        for copy, value in zip(self.copies, values, strict=True):
            step(copy.job, copy.model, copy.optimizer, copy.scheduler, value)
        return values

    def validate(self, hidden: Any, targets: Tensor) -> list[tuple[float, float]]:
        """Return the validation loss and score of each training."""
        results = []
        with torch.no_grad():
            out = self.forward.finish(self.models(training=False), self.graph, hidden, self.val)
            for copy, rows in zip(self.copies, out, strict=True):
                prediction, target = rows[: len(copy.val_ids)], targets.index_select(0, copy.val_ids)
                results.append((float(copy.job.task.loss(prediction, target)), copy.job.task.score(prediction, target)))
        return results


def _train(copies: list[Copy], on_epoch: Listener, on_end: Callable[[int, Outcome], None]) -> list[Outcome]:
    job = copies[0].job
    targets = job.task.target(job.whole)
    outcomes: dict[int, Outcome] = {}
    running = Running.of(copies, SharedGraph(job.whole), vectorized_models()[type(copies[0].model)])
    hidden = running.begin()
    while True:
        start = time.perf_counter()
        rates = [copy.lr for copy in running.copies]
        train_losses = running.step(hidden, targets)
        hidden = running.begin()
        validation = running.validate(hidden, targets)
        seconds = (time.perf_counter() - start) / len(running.copies)
        left = []
        for at, copy in enumerate(running.copies):
            loss, score = validation[at]
            outcome = Outcome("diverged", count_parameters(copy.model), copy.history)
            if math.isfinite(train_losses[at]) and math.isfinite(loss):
                epoch = Epoch(len(copy.history) + 1, rates[at], train_losses[at], loss, score, seconds)
                stop_reason = copy.record(epoch)
                on_epoch(copy.number, epoch)
                if stop_reason is None:
                    left.append(copy)
                    continue
                outcome = final_outcome(copy.job, copy.model, copy.best_state, stop_reason, copy.history)
            outcomes[copy.number] = outcome
            on_end(copy.number, outcome)
        if not left:
            return [outcomes[number] for number in sorted(outcomes)]
        if len(left) < len(running.copies):
            running = Running.of(left, running.graph, running.forward)
            hidden = running.begin()
