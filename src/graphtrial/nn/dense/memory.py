"""What bounds the memory of models on node pairs: recomputation beyond a budget, refusal beyond the machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.utils.checkpoint import checkpoint

from graphtrial.nn.dense.buckets import Plan

BUDGET = 2 << 30
"""The bytes of activations that a batch may keep for its gradient; beyond them they are computed again."""

SCATTERED = 1.25
"""What a process takes for each byte that it needs, because free memory lies scattered."""


@dataclass(frozen=True)
class Needs:
    """The numbers per node pair that a model holds at once.

    `kept` by each layer for its gradient, `state` handed from layer to layer, `work` in passing while a layer and its
    gradient are computed.
    """

    layers: int
    kept: int
    state: int
    work: int

    def most(self) -> int:
        """Return what a pair needs when everything is kept."""
        return self.layers * self.kept + self.work

    def least(self, *, gradient: bool) -> int:
        """Return what a pair needs when every layer is computed again for its gradient, or has none."""
        once = self.layers * self.state + self.kept
        return once + self.layers * self.state + self.work if gradient else once  # states have gradients


@dataclass(frozen=True)
class Thrift:
    """Which parts are computed again in the backward pass: whole buckets, and within them each layer."""

    buckets: bool = False
    layers: bool = False


def thrift_for(plan: Plan, needs: Needs, item_bytes: int, proven: int) -> Thrift:
    """Return how a batch is computed within the budget; `MemoryError` where its largest graph does not fit at all.

    `proven` pairs have been computed before, and the process keeps the memory that they took: up to so many nothing is
    asked of the system.
    """
    gradient = torch.is_grad_enabled()
    largest = max((bucket.pairs for bucket in plan.buckets), default=0)
    if largest > proven:
        needed = int(SCATTERED * largest * needs.least(gradient=gradient) * item_bytes)
        free = available_bytes()
        if needed > free:
            size = max(bucket.size for bucket in plan.buckets)
            raise MemoryError(
                f"a graph of {size:,} nodes has {size * size:,} pairs of nodes, for which this model needs about "
                f"{needed / 2**30:,.1f} GiB; {free / 2**30:,.1f} GiB are free. Use a smaller width, fewer layers or "
                "a model that passes messages along edges"
            )
    if not gradient:
        return Thrift()
    total = sum(bucket.pairs for bucket in plan.buckets) * needs.most() * item_bytes
    return Thrift(buckets=total > BUDGET, layers=largest * needs.most() * item_bytes > BUDGET)


def again(function: Callable[..., Any], *arguments: Any, thrifty: bool) -> Any:
    """Call a function; if `thrifty`, keep nothing for its gradient but compute it a second time then."""
    return checkpoint(function, *arguments, use_reentrant=False) if thrifty else function(*arguments)


def available_bytes() -> int:
    """Return the memory that is free for this process: the system's, or less where a control group sets a limit."""
    found = [free for free in (_system_bytes(), _group_bytes()) if free is not None]
    return min(found) if found else 1 << 62


def _system_bytes(path: Path = Path("/proc/meminfo")) -> int | None:
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    amounts = {name: rest.split() for name, _, rest in (line.partition(":") for line in lines)}
    return int(amounts["MemAvailable"][0]) * 1024 if "MemAvailable" in amounts else None


def _group_bytes(folder: Path = Path("/sys/fs/cgroup")) -> int | None:
    try:
        limit = (folder / "memory.max").read_text(encoding="ascii").strip()
        used = int((folder / "memory.current").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
    return None if limit == "max" else max(0, int(limit) - used)
