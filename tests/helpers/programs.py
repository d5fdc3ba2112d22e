"""Trainings of a model by its recorded program and on the ordinary path."""

from __future__ import annotations

import copy
from typing import Any

import torch
from tests.helpers.layers import accepted_settings
from tests.helpers.samples import DEGENERATE, EDGE_TYPES, ENCODING, NODE_TYPES, batch_of, random_graphs
from torch import Tensor, nn

from graphtrial.core.process import compute_settings, seed_everything
from graphtrial.nn import Shapes, build_model
from graphtrial.tape.runner import TapedModel
from graphtrial.training.optim.fused import FusedAdam

BATCHES = [
    batch_of([*DEGENERATE, *random_graphs(count, seed=count, max_nodes=14)], seed=count) for count in (9, 14, 30)
]


def build(name: str, level: str = "graph", encoding_dim: int = ENCODING, **settings: Any) -> nn.Module:
    seed_everything(3)
    shapes = Shapes(outputs=2, level=level, node_types=NODE_TYPES, edge_types=EDGE_TYPES, encoding_dim=encoding_dim)
    return build_model(name, shapes, accepted_settings(name, **{"width": 24, "layers": 2, **settings}))


def train(model: nn.Module, call: Any, optimizer: Any, steps: int = 4) -> list[Tensor]:
    """Return the losses of some steps, the logits of an evaluation, and all weights, gradients and buffers."""
    results: list[Tensor] = []
    torch.manual_seed(11)
    for number in range(steps):
        optimizer.zero_grad()
        logits = call(BATCHES[number % len(BATCHES)])
        loss = logits.square().mean() + logits.sum() / 7
        loss.backward()
        optimizer.step()
        results.append(loss.detach())
    gradients = [p.grad for p in model.parameters() if p.grad is not None]
    model.eval()
    with torch.no_grad():
        results += [call(batch) for batch in BATCHES]
    model.train()
    return [*results, *(g.clone() for g in gradients), *(value.clone() for value in model.state_dict().values())]


def both(model: nn.Module, kind: Any = FusedAdam, **options: Any) -> tuple[list[Tensor], list[Tensor], TapedModel]:
    """Train a model by its program and, a copy of it, on the ordinary path."""
    other = copy.deepcopy(model)
    with compute_settings():
        optimizer = kind(model.parameters(), **{"lr": 1e-2, **options})
        taped = TapedModel(model, optimizer.gradient_buffers)
        ours = train(model, taped, optimizer)
        return ours, train(other, other, kind(other.parameters(), **{"lr": 1e-2, **options})), taped


def assert_equal(ours: list[Tensor], theirs: list[Tensor]) -> None:
    assert len(ours) == len(theirs)
    for mine, their in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, their, rtol=0, atol=0, equal_nan=True)


def is_recorded(taped: TapedModel) -> bool:
    return all(program is not None for program in taped._programs.values())
