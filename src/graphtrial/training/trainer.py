"""THE loop: how every model is trained and tested."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import ReduceLROnPlateau

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.process import compute_settings, seed_everything
from graphtrial.graphs import GraphBatch
from graphtrial.nn import count_parameters
from graphtrial.nn.encoder import ENCODING_COLUMN
from graphtrial.tasks import Task
from graphtrial.training.batches import Job, scored_batches, training_batches
from graphtrial.training.checkpoint import Checkpoint, capture, part, restore
from graphtrial.training.optim.adam import Adam
from graphtrial.training.outcome import EXTRA_METRICS, Epoch, Outcome, Status
from graphtrial.training.rules import TrainingRules


def train(job: Job, checkpoint: Path | None = None, on_epoch: Callable[[Epoch], None] = lambda epoch: None) -> Outcome:
    """Train one model by the rules and test it.

    With a `checkpoint` path the state is kept there after each epoch, and a training that finds one goes on from it to
    the same bits as if it had never stopped. `on_epoch` hears of each finished epoch.
    """
    history: list[Epoch] = []
    params = 0
    try:
        with compute_settings():
            seed_everything(job.seed)
            model = job.build()
            params = count_parameters(model)
            return _train(job, model, history, Checkpoint(checkpoint) if checkpoint else None, on_epoch)
    except (MemoryError, torch.OutOfMemoryError, RuntimeError) as error:
        if not _is_out_of_memory(error):
            raise
        return Outcome("oom", params, history)


def _train(
    job: Job, model: nn.Module, history: list[Epoch], checkpoint: Checkpoint | None, on_epoch: Callable[[Epoch], None]
) -> Outcome:
    rules = job.rules
    optimiser, scheduler = optimiser_of(job, model)
    generator = torch.Generator().manual_seed(job.seed)
    train_batches = training_batches(job, generator)
    val_batches = scored_batches(job, "val", keep=True)
    best: dict[str, Tensor] = {}

    saved = checkpoint.load() if checkpoint else None
    if saved:
        tensors, facts = saved
        restore(tensors, facts, model, optimiser, scheduler, generator)
        best = part(tensors, "best.")
        history.extend(Epoch(**record) for record in facts["history"])

    status = verdict(rules, history, optimiser)
    while status is None:
        start = time.perf_counter()
        lr = optimiser.param_groups[0]["lr"]
        train_loss = _train_epoch(job, model, optimiser, train_batches, generator)
        val_loss, val_score = evaluate(model, job.task, val_batches)
        if not (math.isfinite(train_loss) and math.isfinite(val_loss)):
            return Outcome("diverged", count_parameters(model), history)
        epoch = Epoch(len(history) + 1, lr, train_loss, val_loss, val_score, time.perf_counter() - start)
        scheduler.step(judged(rules, epoch))
        if is_to_be_tested(job, epoch, history):
            best = {name: value.clone() for name, value in model.state_dict().items()}
        history.append(epoch)
        if checkpoint:
            tensors, facts = capture(model, optimiser, scheduler, generator)
            kept = {f"best.{name}": value for name, value in best.items()}
            checkpoint.save(tensors | kept, facts | {"history": [asdict(e) for e in history]})
        on_epoch(epoch)
        status = verdict(rules, history, optimiser)
    return tested(job, model, best, status, history)


def optimiser_of(job: Job, model: nn.Module) -> tuple[torch.optim.Optimizer, ReduceLROnPlateau]:
    """Return the optimiser of a model and the schedule of its rate."""
    rules = job.rules
    optimiser = Adam(model.parameters(), lr=rules.lr, weight_decay=rules.weight_decay)
    return optimiser, ReduceLROnPlateau(
        optimiser,
        mode=rules.plateau_mode(rising=_rising(job)),
        factor=rules.factor,
        patience=rules.patience,
        threshold=rules.threshold,
        min_lr=0.0,
    )


def tested(job: Job, model: nn.Module, best: dict[str, Tensor], status: Status, history: list[Epoch]) -> Outcome:
    """Return the end of a training: the scores of the `best` weights, or of the last where none were kept."""
    if best:
        model.load_state_dict(best)
    scores = {name: evaluate(model, job.task, scored_batches(job, name))[1] for name in ("train", "val")}
    tested = _answers(model, job.task, scored_batches(job, "test"))
    scores["test"] = job.task.score(*tested)
    extra = job.task.extra_scores(*tested)
    details = {EXTRA_METRICS: extra} if extra else {}
    return Outcome(status, count_parameters(model), history, scores, dict(model.state_dict()), details)


def _train_epoch(
    job: Job,
    model: nn.Module,
    optimiser: torch.optim.Optimizer,
    batches: Iterable[GraphBatch],
    generator: torch.Generator,
) -> float:
    model.train()
    extra_loss = getattr(model, "extra_loss", None)
    total, examples = 0.0, 0
    for batch in batches:
        batch = _training_view(job, batch, generator)
        prediction, target = batch.select_targets(model(batch)), job.task.target(batch)
        accumulates = job.rules.gradient == "accumulated"
        loss = (
            _sum_over_graphs(job.task, prediction, target, batch) if accumulates else job.task.loss(prediction, target)
        )
        objective = loss if extra_loss is None else loss + extra_loss()
        optimiser.zero_grad()
        objective.backward()
        optimiser.step()
        total += loss.item() * (len(target) / batch.num_graphs if accumulates else len(target))
        examples += len(target)
    return total / examples


@torch.no_grad()
def evaluate(model: nn.Module, task: Task, batches: Iterable[GraphBatch]) -> tuple[float, float]:
    """Return the loss and the score over all examples, neither of which depends on how they are batched."""
    prediction, target = _answers(model, task, batches)
    return float(task.loss(prediction, target)), task.score(prediction, target)


@torch.no_grad()
def _answers(model: nn.Module, task: Task, batches: Iterable[GraphBatch]) -> tuple[Tensor, Tensor]:
    """Return the predictions and the targets of all examples."""
    model.eval()
    answers = [(batch.select_targets(model(batch)), task.target(batch)) for batch in batches]
    prediction, target = (torch.cat(column) for column in zip(*answers, strict=True))
    return prediction, target


def _sum_over_graphs(task: Task, prediction: Tensor, target: Tensor, batch: GraphBatch) -> Tensor:
    """Return the sum of the losses of the graphs, each taken alone."""
    if task.level == "edge":
        counts = torch.bincount(batch.batch[batch.edge_index[1]], minlength=batch.num_graphs)
    elif task.level in ("graph", "node"):
        counts = batch.ptr.diff() if task.level == "node" else torch.ones_like(batch.ptr[1:])
    else:
        raise GraphTrialError(f"gradients cannot be accumulated over graphs where {task.level} is asked about")
    rows = counts.tolist()
    losses = [task.loss(p, t) for p, t in zip(prediction.split(rows), target.split(rows), strict=True) if len(t)]
    return torch.stack(losses).sum()


def _training_view(job: Job, batch: GraphBatch, generator: torch.Generator) -> GraphBatch:
    if job.encoding is None:
        return batch
    return batch.with_column(ENCODING_COLUMN, job.encoding.training_view(batch.columns[ENCODING_COLUMN], generator))


def judged(rules: TrainingRules, epoch: Epoch) -> float:
    """Return the number by which an epoch is judged."""
    return epoch.val_loss if rules.judged_by == "loss" else epoch.val_score


def is_to_be_tested(job: Job, epoch: Epoch, before: list[Epoch]) -> bool:
    """Tell whether the weights after this epoch are the ones to keep for the test: better than all before."""
    sign = -1 if _rising(job) else 1
    mine = sign * judged(job.rules, epoch)
    return job.rules.tested == "best" and all(mine < sign * judged(job.rules, other) for other in before)


def _rising(job: Job) -> bool:
    """Tell whether higher is better in what an epoch is judged by."""
    return job.rules.judged_by == "score" and job.task.metric.higher_is_better


def verdict(rules: TrainingRules, history: list[Epoch], optimiser: torch.optim.Optimizer) -> Status | None:
    """Return why training is over, or nothing while it is not."""
    if optimiser.param_groups[0]["lr"] < rules.min_lr or len(history) >= rules.max_epochs:
        return "done"
    return "time" if sum(e.seconds for e in history) > rules.max_hours * 3600 else None


def _is_out_of_memory(error: BaseException) -> bool:
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    return "can't allocate memory" in str(error) or "not enough memory" in str(error)
