"""The loop for many trainings on one graph at once, step by step the same as THE loop for each of them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from graphtrial.errors import GraphTrialError
from graphtrial.nn import count_parameters
from graphtrial.nn.together import Copies, Graph, Way, ways
from graphtrial.process import compute_settings, seed_everything
from graphtrial.training.batches import Job
from graphtrial.training.outcome import Epoch, Outcome, Status
from graphtrial.training.trainer import is_to_be_tested, judged, optimiser_of, tested, verdict

Listener = Callable[[int, Epoch], None]


@dataclass
class Copy:
    """One of the trainings: its model, optimiser and schedule, its random numbers, and how far it has come."""

    number: int
    job: Job
    model: nn.Module
    generator: torch.Generator
    optimiser: torch.optim.Optimizer = field(init=False)
    scheduler: Any = field(init=False)
    history: list[Epoch] = field(default_factory=list)
    best: dict[str, Tensor] = field(default_factory=dict)
    train_ids: Tensor = field(init=False)
    val_ids: Tensor = field(init=False)

    def __post_init__(self) -> None:
        self.optimiser, self.scheduler = optimiser_of(self.job, self.model)
        self.train_ids = torch.from_numpy(self.job.train_ids.copy())
        self.val_ids = torch.from_numpy(self.job.val_ids.copy())

    def note(self, epoch: Epoch) -> None:
        """Write an epoch down, keep its weights where they are the best, and let the schedule hear of it."""
        self.scheduler.step(judged(self.job.rules, epoch))
        if is_to_be_tested(self.job, epoch, self.history):
            self.best = {name: value.clone() for name, value in self.model.state_dict().items()}
        self.history.append(epoch)


def can_be_together(job: Job, model: nn.Module) -> bool:
    """Tell whether such trainings can be done at once: nodes of one graph, without an encoding, by a model that can."""
    plain = job.split_level == "node" and job.encoding is None and job.task.level == "node"
    return plain and job.rules.gradient == "mean" and type(model) in ways()


def train_together(
    jobs: Sequence[Job],
    on_epoch: Listener = lambda number, epoch: None,
    on_end: Callable[[int, Outcome], None] = lambda number, outcome: None,
) -> list[Outcome]:
    """Train one model for each job, all on the same graph, and test each; what one draws or learns no other sees.

    The jobs differ in split and seed alone. The outcomes are those of `train`, to rounding. `on_epoch` and `on_end`
    hear the number of the job as well; a training that has ended takes no more time.
    """
    with compute_settings():
        whole = jobs[0].whole
        for job in jobs[1:]:
            vars(job)["whole"] = whole  # the graph is the same for all, and there is one in memory
        copies = [_begin(number, job) for number, job in enumerate(jobs)]
        if not can_be_together(jobs[0], copies[0].model) or len({type(copy.model) for copy in copies}) > 1:
            kind = type(copies[0].model).__name__
            raise GraphTrialError(f"trainings of {kind} on this data cannot be done at once: run them one by one")
        return _train(copies, on_epoch, on_end)


def _begin(number: int, job: Job) -> Copy:
    """Build a model from its seed, and go on with the same random numbers in a generator of its own."""
    seed_everything(job.seed)
    model = job.build()
    generator = torch.Generator()
    generator.set_state(torch.get_rng_state())
    return Copy(number, job, model, generator)


def _train(copies: list[Copy], on_epoch: Listener, on_end: Callable[[int, Outcome], None]) -> list[Outcome]:
    job = copies[0].job
    graph, way = Graph(job.whole), ways()[type(copies[0].model)]
    answers = job.task.target(job.whole)
    outcomes: dict[int, Outcome] = {}
    running = copies
    beginning = way.begin(_copies(running, training=False), graph)
    while running:
        start = time.perf_counter()
        rates = [copy.optimiser.param_groups[0]["lr"] for copy in running]
        train_losses = _step(running, graph, way, beginning, answers)
        beginning, validation = _validate(running, graph, way, answers)
        seconds = (time.perf_counter() - start) / len(running)
        ended = set()
        for at, copy in enumerate(running):
            loss, score = validation[at]
            status: Status | None = "diverged"
            if math.isfinite(train_losses[at]) and math.isfinite(loss):
                epoch = Epoch(len(copy.history) + 1, rates[at], train_losses[at], loss, score, seconds)
                copy.note(epoch)
                on_epoch(copy.number, epoch)
                status = verdict(copy.job.rules, copy.history, copy.optimiser)
            if status is not None:
                outcomes[copy.number] = _end(copy, status)
                on_end(copy.number, outcomes[copy.number])
                ended.add(at)
        if ended:
            left = [at for at in range(len(running)) if at not in ended]
            running = [running[at] for at in left]
            if running:  # the others go on from what was computed to validate them, in a tensor of their own
                beginning = way.begin(_copies(running, training=False), graph)
    return [outcomes[number] for number in sorted(outcomes)]


def _copies(running: Sequence[Copy], *, training: bool) -> Copies:
    return Copies([copy.model for copy in running], [copy.generator for copy in running], training)


def _step(running: Sequence[Copy], graph: Graph, way: Way, beginning: Any, answers: Tensor) -> list[float]:
    """Make one step of each training and return the losses before it."""
    out = way.finish(_copies(running, training=True), graph, beginning)
    losses = []
    for copy, answered in zip(running, out.unbind(), strict=True):  # one by one, each would get the gradient of all
        prediction = answered.index_select(0, copy.train_ids)
        losses.append(copy.job.task.loss(prediction, answers.index_select(0, copy.train_ids)))
        copy.optimiser.zero_grad()
    together = torch.stack(losses)
    together.sum().backward()
    for copy in running:
        copy.optimiser.step()
    return together.tolist()


def _validate(
    running: Sequence[Copy], graph: Graph, way: Way, answers: Tensor
) -> tuple[Any, list[tuple[float, float]]]:
    """Return the beginning of the way with the new weights, which the next step goes on from, and losses and scores."""
    copies = _copies(running, training=False)
    beginning = way.begin(copies, graph)
    found = []
    with torch.no_grad():
        out = way.finish(copies, graph, beginning)
        for at, copy in enumerate(running):
            prediction, target = out[at].index_select(0, copy.val_ids), answers.index_select(0, copy.val_ids)
            found.append((float(copy.job.task.loss(prediction, target)), copy.job.task.score(prediction, target)))
    return beginning, found


def _end(copy: Copy, status: Status) -> Outcome:
    if status == "diverged":
        return Outcome("diverged", count_parameters(copy.model), copy.history)
    return tested(copy.job, copy.model, copy.best, status, copy.history)
