"""Contestants for batching and positional encodings."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from benchmarks.data import graphs_for
from benchmarks.entries import BATCH, WALK_STEPS
from benchmarks.machine import pin_to_one_core
from benchmarks.protocol import Tick
from benchmarks.training import as_data, twin_class
from graphtrial.graphs import GraphSet

EIGENVECTORS = 8
PAIRS_BATCH = 32


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


def any_encoding(ready: Callable[..., None], tick: Tick, encoding: str, graphs: int) -> None:
    """Compute an encoding of ZINC graphs; the checksum is the sum of the values that are not missing."""
    from graphtrial.studies.study import parse_encoding
    from graphtrial.trials.shapes import make_encoding

    _ready(ready)
    chosen, built = _first_of_zinc(graphs), make_encoding(parse_encoding(encoding))
    if built is None:
        raise ValueError(f"{encoding!r} is not an encoding")
    built.compute(chosen[:2])  # compiles
    while True:
        start = time.perf_counter()
        values = built.compute(chosen)
        seconds = time.perf_counter() - start
        tick(seconds, np.nansum(values, dtype=np.float64))


def random_walks_pyg(ready: Callable[..., None], tick: Tick, graphs: int) -> None:
    """Compute random-walk encodings by `AddRandomWalkPE`."""
    twin_class()
    from torch_geometric.transforms import AddRandomWalkPE

    _ready(ready)
    data = as_data(_first_of_zinc(graphs), np.arange(graphs))
    transform = AddRandomWalkPE(WALK_STEPS, attr_name="pe")
    while True:
        start = time.perf_counter()
        transformed = [transform(item) for item in data]
        seconds = time.perf_counter() - start
        tick(seconds, sum(item.pe.double().sum().item() for item in transformed))


def node_pairs(ready: Callable[..., None], tick: Tick, relation: str, graphs: int) -> None:
    """Compute walks, distances or expanders of ZINC graphs in batches; the checksum is the sum of the values."""
    from graphtrial.graphs import GraphBatch
    from graphtrial.graphs.pairs import edge_walks, expander_edges, expanders, pair_walks, shortest_path_distances

    _ready(ready)
    compute: dict[str, Callable[[GraphBatch], Tensor]] = {
        "RRWP of pairs": lambda batch: pair_walks(batch, WALK_STEPS + 1),
        "walks along edges": lambda batch: edge_walks(batch, WALK_STEPS),
        "shortest paths of pairs": shortest_path_distances,
        "expanders": lambda batch: expander_edges(batch, 3, seed=0),
    }
    data, ids = _first_of_zinc(graphs), np.split(np.arange(graphs), range(PAIRS_BATCH, graphs, PAIRS_BATCH))
    while True:
        expanders.forget()
        batches = [GraphBatch.from_set(data, some) for some in ids]
        total, start = 0.0, time.perf_counter()
        for batch in batches:
            total += compute[relation](batch).sum().item()
        tick(time.perf_counter() - start, total)


def _first_of_zinc(graphs: int) -> GraphSet:
    from graphtrial.datasets import load

    return load("zinc").graphs[:graphs]


def _ready(ready: Callable[..., None]) -> None:
    torch.set_num_threads(1)
    pin_to_one_core()
    ready()
