"""Activation checkpointing of models on node pairs beyond a memory budget; an error beyond the machine's memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils.checkpoint import checkpoint

from graphtrial.core.hardware.memory import available_bytes
from graphtrial.graphs.pairs.buckets import Plan

BUDGET = 2 << 30
"""Bytes of activations that a batch may save for the backward pass; beyond them they are recomputed."""

SCATTERED = 1.25
"""Ratio of allocated to used memory, because of fragmentation."""


@dataclass(frozen=True)
class MemoryNeeds:
    """Elements per node pair that a model allocates.

    `saved` is saved by each layer for its backward pass, `state` is passed from layer to layer, `work` is temporary
    during a layer's forward and backward pass.
    """

    layers: int
    saved: int
    state: int
    work: int

    def most(self) -> int:
        """Return the elements per pair without checkpointing."""
        return self.layers * self.saved + self.work

    def least(self, *, gradient: bool) -> int:
        """Return the elements per pair with every layer checkpointed, or without gradient."""
        once = self.layers * self.state + self.saved
        return once + self.layers * self.state + self.work if gradient else once  # states have gradients


@dataclass(frozen=True)
class Checkpointing:
    """Activation checkpointing of whole buckets, and within them of each layer."""

    buckets: bool = False
    layers: bool = False


def choose_checkpointing(plan: Plan, needs: MemoryNeeds, item_bytes: int, fitted_pairs: int) -> Checkpointing:
    """Choose the checkpointing that fits the budget; `MemoryError` where the largest graph does not fit at all.

    Buckets of at most `fitted_pairs` pairs have run before, so that the process owns the memory they need and the
    system's free memory is not checked.
    """
    gradient = torch.is_grad_enabled()
    largest = max((bucket.pairs for bucket in plan.buckets), default=0)
    if largest > fitted_pairs:
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
        return Checkpointing()
    total = sum(bucket.pairs for bucket in plan.buckets) * needs.most() * item_bytes
    return Checkpointing(buckets=total > BUDGET, layers=largest * needs.most() * item_bytes > BUDGET)


def maybe_checkpoint(function: Callable[..., Any], *arguments: Any, recompute: bool) -> Any:
    """Call `function`; if `recompute`, with activation checkpointing (`torch.utils.checkpoint`)."""
    return checkpoint(function, *arguments, use_reentrant=False) if recompute else function(*arguments)
