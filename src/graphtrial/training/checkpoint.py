"""Checkpoints: the whole state of a training in one file, written atomically."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from graphtrial.core.files import atomic_path
from graphtrial.core.hardware.devices import random_states, set_random_states

logger = logging.getLogger(__name__)
CPU = torch.device("cpu")
MAX_FRACTION = 0.05
"""Maximum fraction of the time of a training that is spent on saving checkpoints; 1 saves after each epoch."""


class Checkpoint:
    """The state of a training after an epoch: weights, optimizer, schedule, random number generators, history.

    The newest checkpoint and the one before are on disk; a corrupt one is skipped.
    """

    def __init__(self, path: Path, max_fraction: float | None = None) -> None:
        self.path = path
        self.max_fraction = MAX_FRACTION if max_fraction is None else max_fraction
        self.previous = path.with_name(f"previous-{path.name}")
        self._due_at = 0.0

    @contextmanager
    def saving(
        self, state: Callable[[], tuple[dict[str, Tensor], dict[str, Any]]], *, always: bool = False
    ) -> Iterator[None]:
        """Save a state before the block where a checkpoint is due, otherwise only if the block raises an exception.

        The first is due at once, the next when saving has taken at most `max_fraction` of the time: trainings of short
        epochs would mostly wait for the disk. With `always` it is due in any case.
        """
        due = always or time.monotonic() >= self._due_at
        if due:
            self.save(*state())
        try:
            yield
        except BaseException:
            if not due:
                self.save(*state())
            raise

    def save(self, tensors: dict[str, Tensor], facts: dict[str, Any]) -> None:
        """Write a new newest checkpoint."""
        start = time.monotonic()
        self._write(tensors, facts)
        end = time.monotonic()
        self._due_at = end + (end - start) * (1 / self.max_fraction - 1)

    def _write(self, tensors: dict[str, Tensor], facts: dict[str, Any]) -> None:
        content = json.dumps(facts)  # not the canonical form: a fresh schedule's best loss is infinite
        tensors = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
        with self._renewed() as temporary:
            temporary.write_bytes(save(tensors, {"facts": content, "digest": _digest(tensors, content)}))

    def put(self, content: bytes) -> None:
        """Write the bytes of a checkpoint of another machine as the newest one."""
        with self._renewed() as temporary:
            temporary.write_bytes(content)

    def content(self) -> bytes | None:
        """Return the bytes of the newest undamaged checkpoint, or nothing where there is none."""
        return next((path.read_bytes() for path in (self.path, self.previous) if self._read(path) is not None), None)

    def load(self) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        """Return the newest undamaged state, or nothing where there is none."""
        return next((state for path in (self.path, self.previous) if (state := self._read(path)) is not None), None)

    def remove(self) -> None:
        """Delete both files; the training is over."""
        self.path.unlink(missing_ok=True)
        self.previous.unlink(missing_ok=True)

    @contextmanager
    def _renewed(self) -> Iterator[Path]:
        """Yield a path that becomes the newest file, the newest so far becoming the one before."""
        with atomic_path(self.path) as temporary:
            yield temporary
            if self.path.exists():
                os.replace(self.path, self.previous)

    def _read(self, path: Path) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        if not path.exists():
            return None
        try:
            with safe_open(path, "pt") as file:
                about = file.metadata() or {}
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except (SafetensorError, OSError) as error:
            logger.warning("%s is damaged (%s); the one before it is used", path.name, error)
            return None
        if about.get("digest") != _digest(tensors, about.get("facts", "")):
            logger.warning("%s is damaged; the one before it is used", path.name)
            return None
        return tensors, json.loads(about["facts"])


def capture(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    scheduler: Any,
    generator: torch.Generator,
    device: torch.device = CPU,
) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return the state of a training as tensors and plain values."""
    tensors = {f"model.{name}": value for name, value in model.state_dict().items()}
    state = optimizer.state_dict()
    for index, slots in state["state"].items():
        tensors |= {f"optimizer.{index}.{slot}": value for slot, value in slots.items()}
    tensors |= {f"random.{name}": value for name, value in random_states(device).items()}
    tensors["random.data"] = generator.get_state()
    kind, keys, position, has_gauss, gauss = np.random.get_state(legacy=True)
    facts = {
        "groups": state["param_groups"],
        "scheduler": scheduler.state_dict(),
        "python_random": random.getstate(),
        "numpy_random": [kind, np.asarray(keys).tolist(), position, has_gauss, gauss],
    }
    return tensors, facts


def restore(
    tensors: dict[str, Tensor],
    facts: dict[str, Any],
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    scheduler: Any,
    generator: torch.Generator,
    device: torch.device = CPU,
) -> None:
    """Restore a captured state, on any device."""
    model.load_state_dict(part(tensors, "model."))
    slots: dict[int, dict[str, Tensor]] = {}
    for name, value in part(tensors, "optimizer.").items():
        index, _, slot = name.partition(".")
        slots.setdefault(int(index), {})[slot] = value
    optimizer.load_state_dict({"state": slots, "param_groups": facts["groups"]})
    scheduler.load_state_dict(facts["scheduler"])
    set_random_states(part(tensors, "random."), device)
    generator.set_state(tensors["random.data"])
    version, internal, gauss_next = facts["python_random"]
    random.setstate((version, tuple(internal), gauss_next))
    kind, keys, position, has_gauss, gauss = facts["numpy_random"]
    np.random.set_state((kind, np.array(keys, np.uint32), position, has_gauss, gauss))


def part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """Return the tensors whose names start with `prefix`, without it."""
    return {name[len(prefix) :]: value for name, value in tensors.items() if name.startswith(prefix)}


def _digest(tensors: dict[str, Tensor], content: str) -> str:
    """Return the SHA-256 of names, dtypes, shapes and bytes: the same bytes are other numbers in another dtype."""
    described = [[name, str(tensors[name].dtype), list(tensors[name].shape)] for name in sorted(tensors)]
    hasher = hashlib.sha256(json.dumps([content, described]).encode())
    for name in sorted(tensors):
        hasher.update(tensors[name].contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return hasher.hexdigest()
