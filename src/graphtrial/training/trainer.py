"""THE loop: how every model is trained and evaluated."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.hardware.compute import ONE_CORE, Compute
from graphtrial.core.hardware.devices import device_name, free_memory
from graphtrial.core.process import compute_settings, seed_everything
from graphtrial.graphs import GraphBatch
from graphtrial.nn import count_parameters
from graphtrial.nn.encoder import ENCODING_COLUMN
from graphtrial.ops.portable import portable_path
from graphtrial.tasks import Task
from graphtrial.training.batches import Job, evaluation_batches, steps_per_epoch, training_batches
from graphtrial.training.checkpoint import Checkpoint, capture, part, restore
from graphtrial.training.evaluation import evaluate, predict
from graphtrial.training.monitor import Monitor
from graphtrial.training.optim.base import Run, Scheduler, StoppingRule
from graphtrial.training.outcome import EXTRA_METRICS, MIXED_DEVICES, Epoch, Outcome
from graphtrial.training.precision import autocast, precision_settings

if TYPE_CHECKING:
    from graphtrial.tape.runner import TapedModel


def train(
    job: Job,
    checkpoint: Path | Checkpoint | None = None,
    on_epoch: Callable[[Epoch], None] = lambda epoch: None,
    compute: Compute = ONE_CORE,
) -> Outcome:
    """Train one model by its rules and evaluate it.

    With a `checkpoint` path the state is saved there after epochs (see `Checkpoint.saving`), and a training that finds
    one resumes from it to the same bits as if it had never stopped. `on_epoch` is called with each finished epoch; an
    exception that it raises ends the training, whose state is saved. After the epoch `compute.pause_at` a training that
    no rule has ended pauses: its outcome has the status `paused` and no scores.
    """
    history: list[Epoch] = []
    params = 0
    device = torch.device(compute.device)
    if (job.device, job.pause_at) != (device, compute.pause_at):
        job = replace(job, device=device, pause_at=compute.pause_at)
    try:
        with compute_settings(compute.threads or 1), precision_settings(job.rules.precision, device):
            seed_everything(job.seed)
            model = job.build()  # on the CPU: the same initial weights on every device
            params = count_parameters(model)
            model.to(device)
            if compute.compile:
                compile_model(model)
            with portable_path(compute.portable):
                saved = Checkpoint(checkpoint) if isinstance(checkpoint, Path) else checkpoint
                return _train(job, model, history, saved, on_epoch)
    except (MemoryError, torch.OutOfMemoryError, RuntimeError) as error:
        if not _is_out_of_memory(error):
            raise
        error.__traceback__ = None  # its frames hold the tensors that filled the memory
    free_memory(device)
    return Outcome("oom", params, history)


def compile_model(model: nn.Module, backend: str = "inductor") -> None:
    """Compile a model in place by `torch.compile`, for batches of any size.

    NumPy is not traced: structure that the host computes, such as Exphormer's expanders, breaks the graph instead.
    """
    import torch._dynamo.config  # importing it takes a second, which trainings without it save

    torch._dynamo.config.trace_numpy = False
    model.compile(dynamic=True, backend=backend)


def _train(
    job: Job, model: nn.Module, history: list[Epoch], checkpoint: Checkpoint | None, on_epoch: Callable[[Epoch], None]
) -> Outcome:
    from graphtrial.tape.runner import TapedModel  # importing numba is slow, and commands that train import this module

    monitor = Monitor(job.rules, job.task)
    optimizer, scheduler = build_optimizer(job, model)
    taped = TapedModel(model, getattr(optimizer, "gradient_buffers", None))
    generator = torch.Generator().manual_seed(job.seed)
    train_batches = training_batches(job, generator)
    val_batches = evaluation_batches(job, "val", cache=True)
    best_state: dict[str, Tensor] = {}
    devices, other_generators = [device_name(job.device)], {}

    saved = checkpoint.load() if checkpoint else None
    if saved:
        tensors, facts = saved
        restore(tensors, facts, model, optimizer, scheduler, generator, job.device)
        best_state = {name: value.to(job.device) for name, value in part(tensors, "best.").items()}
        history.extend(Epoch(**record) for record in facts["history"])
        devices = list(dict.fromkeys([*facts.get("devices", ["cpu"]), *devices]))
        other_generators = {name: value for name, value in tensors.items() if name.startswith("random.")}

    def state() -> tuple[dict[str, Tensor], dict[str, Any]]:
        tensors, facts = capture(model, optimizer, scheduler, generator, job.device)
        best = {f"best.{name}": value for name, value in best_state.items()}
        facts |= {"history": [asdict(e) for e in history], "devices": devices}
        return other_generators | tensors | best, facts

    stop_reason = monitor.stop_reason(history, optimizer.param_groups[0]["lr"])
    while stop_reason is None:
        if job.pause_at is not None and len(history) >= job.pause_at:
            return Outcome("paused", count_parameters(model), history)
        start = time.perf_counter()
        lr = optimizer.param_groups[0]["lr"]
        train_loss = _train_epoch(job, taped, optimizer, scheduler, train_batches, generator)
        val_loss, val_score = evaluate(taped, job.task, val_batches, job.rules.precision)
        if not (math.isfinite(train_loss) and math.isfinite(val_loss)):
            return Outcome("diverged", count_parameters(model), history)
        epoch = Epoch(len(history) + 1, lr, train_loss, val_loss, val_score, time.perf_counter() - start)
        if job.rules.schedule.every == "epoch":
            scheduler.step(monitor.value(epoch))
        if monitor.is_best(epoch, history):
            best_state = {name: value.clone() for name, value in model.state_dict().items()}
        history.append(epoch)
        pausing = len(history) == job.pause_at
        with checkpoint.saving(state, always=pausing) if checkpoint else nullcontext():
            on_epoch(epoch)
        stop_reason = monitor.stop_reason(history, optimizer.param_groups[0]["lr"])
    outcome = final_outcome(job, model, best_state, stop_reason, history)
    mixed = {MIXED_DEVICES: devices} if len(devices) > 1 else {}
    return replace(outcome, details={**outcome.details, **mixed})


def build_optimizer(job: Job, model: nn.Module) -> tuple[torch.optim.Optimizer, Scheduler]:
    """Return the optimizer of a model and the schedule of its learning rate."""
    rules = job.rules
    optimizer = rules.optimizer.build(model.parameters())
    run = Run(steps_per_epoch(job), Monitor(rules, job.task).rising, rules.max_epochs)
    return optimizer, rules.schedule.build(optimizer, run)


def final_outcome(
    job: Job, model: nn.Module, best_state: dict[str, Tensor], stop_reason: StoppingRule, history: list[Epoch]
) -> Outcome:
    """Return the outcome of a training: the scores of the best weights, or of the last where none were saved."""
    from graphtrial.tape.runner import TapedModel

    if best_state:
        model.load_state_dict(best_state)
    precision, taped = job.rules.precision, TapedModel(model)
    scores = {name: evaluate(taped, job.task, evaluation_batches(job, name), precision)[1] for name in ("train", "val")}
    extra = {}
    if job.score_test:
        predictions = predict(taped, job.task, evaluation_batches(job, "test"), precision)
        scores["test"] = job.task.score(*predictions)
        extra = job.task.extra_scores(*predictions)
    weights = {name: value.cpu() for name, value in model.state_dict().items()}
    details = {"stop_reason": stop_reason.name, **({EXTRA_METRICS: extra} if extra else {})}
    return Outcome(stop_reason.status, count_parameters(model), history, scores, weights, details)


def _train_epoch(
    job: Job,
    taped: TapedModel,
    optimizer: torch.optim.Optimizer,
    scheduler: Scheduler,
    batches: Iterable[GraphBatch],
    generator: torch.Generator,
) -> float:
    """Train on all batches once and return the mean loss over examples.

    Losses stay on the device until the end of the epoch: no step waits for it.
    """
    taped.train()
    model, rules = taped.model, job.rules
    extra_loss = getattr(model, "extra_loss", None)
    losses: list[Tensor] = []
    weights: list[float] = []
    examples = 0
    for group in _groups(batches, 1 if rules.accumulation == "as-published" else rules.accumulation):
        targets = [job.task.target(batch) for batch in group]
        size = sum(len(target) for target in targets)
        optimizer.zero_grad()
        for batch, target in zip(group, targets, strict=True):
            batch = _training_view(job, batch, generator)
            per_graph = rules.accumulation == "as-published"
            with autocast(rules.precision, job.device):
                logits = batch.select_targets(taped(batch))
            logits = logits.float() if logits.dtype == torch.bfloat16 else logits
            loss = _sum_over_graphs(job.task, logits, target, batch) if per_graph else job.task.loss(logits, target)
            objective = loss if extra_loss is None else loss + extra_loss()
            (objective if len(group) == 1 else objective * (len(target) / size)).backward()
            losses.append(loss.detach())
            weights.append(len(target) / batch.num_graphs if per_graph else len(target))
        step(job, model, optimizer, scheduler, losses[-1])
        examples += size
    total = 0.0
    for value, weight in zip(torch.stack(losses).tolist(), weights, strict=True):
        total += value * weight
    return total / examples


def step(
    job: Job, model: nn.Module, optimizer: torch.optim.Optimizer, scheduler: Scheduler, loss: Tensor | float
) -> None:
    """Clip the gradient, update the weights and, where the schedule goes by steps, the learning rate."""
    if job.rules.clip_grad_norm is not None:
        nn.utils.clip_grad_norm_(model.parameters(), job.rules.clip_grad_norm)
    optimizer.step()
    if job.rules.schedule.every == "step":
        scheduler.step(float(loss) if job.rules.schedule.reads_value else math.nan)


def _groups(batches: Iterable[GraphBatch], size: int) -> Iterator[list[GraphBatch]]:
    """Yield batches in groups of `size`, the last one perhaps smaller."""
    remaining = iter(batches)
    while group := list(islice(remaining, size)):
        yield group


def _sum_over_graphs(task: Task, logits: Tensor, target: Tensor, batch: GraphBatch) -> Tensor:
    """Return the sum of the losses of the graphs, each taken alone."""
    if task.level == "edge":
        counts = batch.in_ptr.index_select(0, batch.ptr).diff()
    elif task.level in ("graph", "node"):
        counts = batch.host_ptr.diff() if task.level == "node" else torch.ones_like(batch.host_ptr[1:])
    else:
        raise GraphTrialError(f"gradients cannot be accumulated over graphs for targets of the level {task.level}")
    rows = counts.tolist()
    losses = [task.loss(p, t) for p, t in zip(logits.split(rows), target.split(rows), strict=True) if len(t)]
    return torch.stack(losses).sum()


def _training_view(job: Job, batch: GraphBatch, generator: torch.Generator) -> GraphBatch:
    if job.encoding is None:
        return batch
    return batch.with_column(ENCODING_COLUMN, job.encoding.training_view(batch.columns[ENCODING_COLUMN], generator))


def _is_out_of_memory(error: BaseException) -> bool:
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    return any(words in str(error) for words in ("can't allocate memory", "not enough memory", "out of memory"))
