"""Reference loops of RingGNN and 3WL-GNN over single graphs on dense [nodes, nodes] tensors, as in the papers."""

from __future__ import annotations

import math
import multiprocessing
import os
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.entries import BY_NAME
from benchmarks.machine import cores, pin_to_one_core, reset_peak
from benchmarks.protocol import Tick

NODE_TYPES = 28
ACCUMULATED = 4
"""Graphs per optimizer step (gradient accumulation), as in the papers."""


def one_at_a_time(ready: Callable[..., None], tick: Tick, model: str, graphs: int, every_core: bool = False) -> None:
    """Train on ZINC with gradient accumulation over single dense graphs."""
    if not every_core:
        pin_to_one_core()
    torch.set_num_threads(len(cores()))
    from benchmarks.data import graphs_for
    from benchmarks.training import LEARNING_RATE

    ready()
    data, ids = graphs_for("zinc", graphs)
    singles = [_single(data, int(graph)) for graph in ids]
    torch.manual_seed(1)
    entry = BY_NAME[model]
    network = (ThreeWLLoop if model == "3wl-gnn" else RingLoop)(entry.zinc, entry.layers)
    optimizer = torch.optim.Adam(network.parameters(), lr=LEARNING_RATE)
    parameters = sum(p.numel() for p in network.parameters())
    reset_peak()
    while True:
        start, total = time.perf_counter(), 0.0
        for number, index in enumerate(np.random.default_rng(0).permutation(len(singles)), 1):
            single = singles[index]
            loss = (network(dense(*single[:3])) - single[3]).abs().sum()
            loss.backward()
            total += loss.item()
            if number % ACCUMULATED == 0 or number == len(singles):
                optimizer.step()
                optimizer.zero_grad()
        tick(time.perf_counter() - start, total / len(singles), parameters=parameters)


def every_core(ready: Callable[..., None], tick: Tick, model: str, graphs: int) -> None:
    """Train one trial per core concurrently; seconds are those of the slowest, divided by the number of trials."""
    ready()
    context = multiprocessing.get_context("spawn")
    start, done = context.Barrier(len(cores()) + 1), context.SimpleQueue()
    trials = [
        context.Process(target=_on_core, args=(core, start, done, model, graphs), daemon=True) for core in cores()
    ]
    for trial in trials:
        trial.start()
    for _ in trials:  # warm-up
        done.get()
    while True:
        start.wait()
        begin = time.perf_counter()
        losses = [done.get() for _ in trials]
        tick((time.perf_counter() - begin) / len(trials), float(np.mean(losses)))


def _on_core(core: int, start: Any, done: Any, model: str, graphs: int) -> None:
    from benchmarks.training import graphtrial

    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core})

    def tick(seconds: float, checksum: float, **facts: Any) -> None:
        done.put(checksum)
        start.wait()

    graphtrial(lambda **facts: None, tick, "zinc", model, graphs)


def dense(types: Tensor, source: Tensor, target: Tensor) -> Tensor:
    """Return normalised adjacency and one-hot node types of one graph, [1, 1 + node types, nodes, nodes]."""
    nodes = len(types)
    adjacency = torch.zeros(nodes, nodes)
    adjacency[source, target] = 1
    degree = adjacency.sum(0)
    scale = torch.where(degree > 0, degree.rsqrt(), 0.0)
    out = torch.zeros(1, 1 + NODE_TYPES, nodes, nodes)
    out[0, 0] = scale.unsqueeze(1) * adjacency * scale
    index = torch.arange(nodes)
    out[0, 1 + types, index, index] = 1
    return out


class ThreeWLLoop(nn.Module):
    """3WL-GNN for one graph, built from 1x1 convolutions."""

    def __init__(self, width: int, layers: int) -> None:
        super().__init__()
        self.blocks = nn.ModuleList()
        for at in range(layers):
            inputs = width if at else 1 + NODE_TYPES
            paths = [
                nn.Sequential(nn.Conv2d(inputs, width, 1), nn.ReLU(), nn.Conv2d(width, width, 1), nn.ReLU())
                for _ in range(2)
            ]
            self.blocks.append(nn.ModuleList([*paths, nn.Conv2d(inputs + width, width, 1)]))
        self.heads = nn.ModuleList(nn.Linear(2 * width, 1) for _ in range(layers))

    def forward(self, h: Tensor) -> Tensor:
        score = h.new_zeros(1, 1)
        for block, head in zip(self.blocks, self.heads, strict=True):
            left, right, skip = block.children()
            h = skip(torch.cat([h, left(h) @ right(h)], dim=1))
            diagonal = torch.eye(h.shape[-1], dtype=torch.bool)
            rest = h.masked_fill(diagonal, -torch.inf).flatten(2).max(2).values
            score = score + head(torch.cat([h.diagonal(dim1=2, dim2=3).max(2).values, rest], dim=1))
        return score


class RingLoop(nn.Module):
    """RingGNN for one graph, with its fifteen equivariant operations materialised."""

    def __init__(self, width: int, layers: int) -> None:
        super().__init__()
        self.coefficients, self.diagonal = nn.ParameterList(), nn.ParameterList()
        self.bias, self.switch = nn.ParameterList(), nn.ParameterList()
        widths = [1 + NODE_TYPES, *[width] * layers]
        for inputs, outputs in pairwise(widths):
            scale = math.sqrt(2 / (inputs + outputs))
            self.coefficients.append(torch.randn(3, inputs, outputs, 15) * scale)
            self.diagonal.append(torch.zeros(3, outputs, 1, 1))
            self.bias.append(torch.zeros(outputs, 1, 1))
            self.switch.append(torch.tensor([1.0, 0.5 / 24]))
        joined = sum(widths)
        self.head = nn.Sequential(
            *(nn.Linear(joined, joined // 2), nn.ReLU()),
            *(nn.Linear(joined // 2, joined // 4), nn.ReLU(), nn.Linear(joined // 4, 1)),
        )

    def forward(self, h: Tensor) -> Tensor:
        sums = [h.sum((2, 3))]
        for coefficients, diagonal, bias, switch in zip(
            self.coefficients, self.diagonal, self.bias, self.switch, strict=True
        ):
            basis = operations(h)
            eye = torch.eye(h.shape[-1])
            maps = [torch.einsum("dsb,ndbij->nsij", c, basis) for c in coefficients]
            maps[:2] = [one + eye * b for one, b in zip(maps[:2], diagonal[:2], strict=True)]  # never the outer factor
            h = F.relu(switch[0] * maps[0] + switch[1] * (maps[2] @ maps[1]) + bias)
            sums.append(h.sum((2, 3)))
        out: Tensor = self.head(torch.cat(sums, dim=1))
        return out


def operations(h: Tensor) -> Tensor:
    """Return the fifteen equivariant operations, [1, channels, 15, nodes, nodes]."""
    n = h.shape[-1]
    diagonal, rows, columns = h.diagonal(dim1=2, dim2=3), h.sum(3) / n, h.sum(2) / n
    trace, total = (diagonal.sum(2, keepdim=True) / n).expand_as(rows), (rows.sum(2, keepdim=True) / n).expand_as(rows)
    basis = [torch.diag_embed(x) for x in (diagonal, trace, rows, columns, total)]
    basis += [x.unsqueeze(3).expand_as(h) for x in (columns, rows)]
    basis += [x.unsqueeze(2).expand_as(h) for x in (columns, rows)]
    basis += [h, h.transpose(2, 3), diagonal.unsqueeze(3).expand_as(h), diagonal.unsqueeze(2).expand_as(h)]
    basis += [x.unsqueeze(3).expand_as(h) for x in (trace, total)]
    return torch.stack(basis, dim=2)


def _single(data: Any, graph: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    from graphtrial.graphs import GraphBatch

    batch = GraphBatch.from_set(data, [graph])
    source, target = batch.edge_index
    return batch.columns["x"].flatten(), source, target, batch.columns["y"].flatten()
