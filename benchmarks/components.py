"""Contestants for batching and positional encodings."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from benchmarks.data import graphs_for
from benchmarks.entries import BATCH
from benchmarks.machine import pin_to_one_core
from benchmarks.protocol import Tick
from benchmarks.training import as_data, twin_class

EIGENVECTORS = 8


def batching_graphtrial(ready: Callable[..., None], tick: Tick, batches: int) -> None:
    """Collate batches of 128 ZINC graphs by `GraphBatch.from_set`; the checksum is the number of edges."""
    from graphtrial.graphs import GraphBatch

    _ready(ready)
    graphs, ids = graphs_for("zinc", batches * BATCH)
    rng = np.random.default_rng(1)
    while True:
        parts = rng.permutation(ids).reshape(-1, BATCH)
        start = time.perf_counter()
        edges = sum(GraphBatch.from_set(graphs, part).num_edges for part in parts)
        tick(time.perf_counter() - start, edges)


def batching_pyg(ready: Callable[..., None], tick: Tick, batches: int, loader: bool) -> None:
    """Collate batches of 128 ZINC graphs by PyG's `Batch.from_data_list` or `DataLoader`."""
    twin_class()
    from torch_geometric.data import Batch
    from torch_geometric.loader import DataLoader

    _ready(ready)
    data = as_data(*graphs_for("zinc", batches * BATCH))
    data_loader = DataLoader(data, batch_size=BATCH, shuffle=True)
    rng = np.random.default_rng(1)
    while True:
        order = rng.permutation(len(data)).reshape(-1, BATCH).tolist()
        start = time.perf_counter()
        loaded: Any = data_loader if loader else (Batch.from_data_list([data[i] for i in part]) for part in order)
        edges = sum(batch.edge_index.shape[1] for batch in loaded)
        tick(time.perf_counter() - start, edges)


def encoding_graphtrial(ready: Callable[..., None], tick: Tick, graphs: int) -> None:
    """Compute Laplacian encodings of ZINC graphs; the checksum is the sum of absolute values."""
    from graphtrial.encodings.laplacian import LaplacianPE

    _ready(ready)
    data, ids = graphs_for("zinc", graphs)
    chosen = data.subset(ids)
    while True:
        start = time.perf_counter()
        values = LaplacianPE(EIGENVECTORS).compute(chosen)
        seconds = time.perf_counter() - start
        tick(seconds, np.abs(values).sum(dtype=np.float64))


def encoding_pyg(ready: Callable[..., None], tick: Tick, graphs: int) -> None:
    """Compute the same by `AddLaplacianEigenvectorPE`, with its faster solver for undirected graphs."""
    twin_class()
    from torch_geometric.transforms import AddLaplacianEigenvectorPE

    _ready(ready)
    data = as_data(*graphs_for("zinc", graphs))
    transform = AddLaplacianEigenvectorPE(EIGENVECTORS, attr_name="pe", is_undirected=True)
    while True:
        start = time.perf_counter()
        transformed = [transform(item) for item in data]
        seconds = time.perf_counter() - start
        tick(seconds, sum(item.pe.double().abs().sum().item() for item in transformed))


def _ready(ready: Callable[..., None]) -> None:
    torch.set_num_threads(1)
    pin_to_one_core()
    ready()
