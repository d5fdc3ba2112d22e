"""THE loop: how every model is trained and tested."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import ReduceLROnPlateau

from graphtrial.encodings import Encoding
from graphtrial.graphs import GraphBatch, GraphSet, Loader
from graphtrial.nn import count_parameters
from graphtrial.nn.encoder import ENCODING_COLUMN
from graphtrial.process import compute_settings, seed_everything
from graphtrial.tasks import Task
from graphtrial.training.checkpoint import Checkpoint, capture, part, restore
from graphtrial.training.outcome import Epoch, Outcome, Status
from graphtrial.training.protocols import Rules

Ids = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Job:
    """Everything one training needs. The graphs carry the encoding, if any, as a column."""

    graphs: GraphSet
    train_ids: Ids
    val_ids: Ids
    test_ids: Ids
    task: Task
    build: Callable[[], nn.Module]
    rules: Rules
    seed: int
    encoding: Encoding | None = None


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
    optimiser = torch.optim.Adam(model.parameters(), lr=rules.lr, weight_decay=rules.weight_decay, fused=True)
    scheduler = ReduceLROnPlateau(
        optimiser, factor=rules.factor, patience=rules.patience, threshold=rules.threshold, min_lr=0.0
    )
    generator = torch.Generator().manual_seed(job.seed)
    train_loader = Loader(job.graphs, job.train_ids, rules.batch_size, generator=generator)
    val_loader = Loader(job.graphs, job.val_ids, rules.batch_size, keep=True)
    best: dict[str, Tensor] = {}

    saved = checkpoint.load() if checkpoint else None
    if saved:
        tensors, facts = saved
        restore(tensors, facts, model, optimiser, scheduler, generator)
        best = part(tensors, "best.")
        history.extend(Epoch(**record) for record in facts["history"])

    status = _verdict(rules, history, optimiser)
    while status is None:
        start = time.perf_counter()
        lr = optimiser.param_groups[0]["lr"]
        train_loss = _train_epoch(job, model, optimiser, train_loader, generator)
        val_loss, val_score = evaluate(model, job.task, val_loader)
        if not (math.isfinite(train_loss) and math.isfinite(val_loss)):
            return Outcome("diverged", count_parameters(model), history)
        scheduler.step(val_loss)
        if rules.tested == "best" and all(val_loss < e.val_loss for e in history):
            best = {name: value.clone() for name, value in model.state_dict().items()}
        epoch = Epoch(len(history) + 1, lr, train_loss, val_loss, val_score, time.perf_counter() - start)
        history.append(epoch)
        if checkpoint:
            tensors, facts = capture(model, optimiser, scheduler, generator)
            kept = {f"best.{name}": value for name, value in best.items()}
            checkpoint.save(tensors | kept, facts | {"history": [asdict(e) for e in history]})
        on_epoch(epoch)
        status = _verdict(rules, history, optimiser)

    if best:
        model.load_state_dict(best)
    splits = {"train": job.train_ids, "val": job.val_ids, "test": job.test_ids}
    scores = {
        name: evaluate(model, job.task, Loader(job.graphs, ids, rules.batch_size))[1] for name, ids in splits.items()
    }
    return Outcome(status, count_parameters(model), history, scores, dict(model.state_dict()))


def _train_epoch(
    job: Job, model: nn.Module, optimiser: torch.optim.Optimizer, loader: Loader, generator: torch.Generator
) -> float:
    model.train()
    total, examples = 0.0, 0
    for batch in loader:
        batch = _training_view(job, batch, generator)
        target = job.task.target(batch)
        loss = job.task.loss(model(batch), target)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        total += loss.item() * len(target)
        examples += len(target)
    return total / examples


@torch.no_grad()
def evaluate(model: nn.Module, task: Task, loader: Loader) -> tuple[float, float]:
    """Return the mean loss and the score over all examples of a loader."""
    model.eval()
    predictions, targets, total = [], [], 0.0
    for batch in loader:
        prediction, target = model(batch), task.target(batch)
        total += task.loss(prediction, target).item() * len(target)
        predictions.append(prediction)
        targets.append(target)
    target = torch.cat(targets)
    return total / len(target), task.score(torch.cat(predictions), target)


def _training_view(job: Job, batch: GraphBatch, generator: torch.Generator) -> GraphBatch:
    if job.encoding is None:
        return batch
    return batch.with_column(ENCODING_COLUMN, job.encoding.training_view(batch.columns[ENCODING_COLUMN], generator))


def _verdict(rules: Rules, history: list[Epoch], optimiser: torch.optim.Optimizer) -> Status | None:
    """Return why training is over, or nothing while it is not."""
    if optimiser.param_groups[0]["lr"] < rules.min_lr or len(history) >= rules.max_epochs:
        return "done"
    return "time" if sum(e.seconds for e in history) > rules.max_hours * 3600 else None


def _is_out_of_memory(error: BaseException) -> bool:
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    return "can't allocate memory" in str(error) or "not enough memory" in str(error)
