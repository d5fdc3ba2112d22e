"""Roofline of a training step: its matrix products and memory traffic, timed in isolation."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from benchmarks.entries import BATCH, BY_NAME, LAYERS
from benchmarks.machine import pin_to_one_core
from benchmarks.protocol import Tick
from benchmarks.training import as_data, build_twin, twin_class

Product = tuple[int, int, int, bool, bool]
"""(m, k, n) of an [m, k] x [k, n] product; whether the left and the right factor are stored transposed."""

ROUND_UP = 16
FEW = 8
FLOAT, INDEX = 4, 4

# Feature vectors read or written per node and per edge in one layer, forward and backward, excluding the products,
# with everything else fused: batch norm needs two passes in each direction, a residual connection one read each.
BLOCK = 10  # statistics, then read, residual, write; backward: read two, read two, write, residual gradient
SUM_OVER_EDGES = 4  # read and write in each direction; repeated reads of a neighbour are cached
INNER_NORM = 8  # batch norm and ReLU within GIN's MLP, no residual connection
GATED_NODES, GATED_EDGES = 10, 5  # four products read, one sum written, and back; edge logits
L2_NORM = 5  # GraphSage
PASSES = {
    "mlp": (4, 0),
    "gcn": (BLOCK + SUM_OVER_EDGES, 0),
    "gin": (BLOCK + SUM_OVER_EDGES + INNER_NORM, 0),
    "graphsage": (BLOCK + SUM_OVER_EDGES + L2_NORM, 0),
    "gat": (BLOCK + SUM_OVER_EDGES, 0),
    "monet": (BLOCK + 3 * SUM_OVER_EDGES, 0),
    "gatedgcn": (BLOCK + GATED_NODES, BLOCK + GATED_EDGES),
}


def products(
    ready: Callable[..., None], tick: Tick, workload: str, model: str, graphs: int, batch: int = BATCH
) -> None:
    """Report the time of the matrix products of training on `graphs` graphs, their GFLOP and the memory traffic.

    The products are those of the PyG baseline on one batch, forward and backward. Each shape is timed with preallocated
    output, as is and padded to multiples of 16, and the faster counts. Where a whole batch would take gigabytes, the
    products are recorded on a few graphs and scaled to the rows of the whole.
    """
    torch.set_num_threads(1)
    twin = twin_class()
    from torch_geometric.data import Batch

    from benchmarks.data import graphs_for

    pin_to_one_core()
    ready()
    data, ids = graphs_for(workload, min(graphs, batch))
    few = Batch.from_data_list(as_data(data, ids[:FEW] if workload == "pattern" else ids))
    whole, width = data.subset(ids), BY_NAME[model].width(workload)
    nodes, edges = whole.num_nodes, whole.num_edges
    rows_of = {int(few.num_nodes): nodes, int(few.num_edges): edges}
    counts = resized(recorded(build_twin(twin, model, workload, data), few), rows_of)
    rows = edges if PASSES[model][1] else nodes
    batches = graphs / len(ids)
    gflop = batches * sum(2 * m * k * n * count for (m, k, n, *_), count in counts.items()) / 1e9
    gigabytes = batches * moved_bytes(model, nodes, edges, width) / 1e9
    while True:
        seconds = batches * sum(count * product_seconds(product) for product, count in counts.items())
        tick(seconds, gflop, gflop=gflop, gigabytes=gigabytes, bandwidth=bandwidth(rows * width))


def recorded(model: nn.Module, batch: Any) -> Counter[Product]:
    """Count the matrix products of one training step by shape."""
    model.train()
    recorder = Recorder()
    with recorder:
        nn.functional.l1_loss(model(batch).squeeze(-1), batch.y).backward()
    return recorder.counts


class Recorder(TorchDispatchMode):
    """Counts the matrix products inside the block by shape."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: Counter[Product] = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in (torch.ops.aten.mm.default, torch.ops.aten.addmm.default):
            a, b = args[-2:]
            if a.numel() and b.numel():
                self.counts[a.shape[0], a.shape[1], b.shape[1], _transposed(a), _transposed(b)] += 1
        return func(*args, **(kwargs or {}))


def resized(products: Mapping[Product, int], rows_of: Mapping[int, int]) -> Counter[Product]:
    """Return the products with every dimension that is a key of `rows_of` replaced by its value."""
    counts: Counter[Product] = Counter()
    for (m, k, n, left, right), count in products.items():
        counts[rows_of.get(m, m), rows_of.get(k, k), rows_of.get(n, n), left, right] += count
    return counts


def moved_bytes(model: str, nodes: int, edges: int, width: int) -> int:
    """Return the bytes read and written by one training step excluding its matrix products (see `PASSES`)."""
    per_node, per_edge = PASSES[model]
    indices = 0 if model == "mlp" else 2 * INDEX * (nodes + edges)
    return LAYERS * (FLOAT * width * (per_node * nodes + per_edge * edges) + indices)


def product_seconds(product: Product) -> float:
    """Return the minimum time of a product, as is or padded."""
    m, k, n, *stored = product
    padded = [-(-size // ROUND_UP) * ROUND_UP if size > 1 else size for size in (k, n)]
    # In a weight gradient the long dimension is the inner one and is not padded.
    sides = {(m, k, n), (m, padded[0] if k < 8 * n else k, padded[1])}
    return min(_fastest(_multiply(*shape, *stored)) for shape in sides)


def bandwidth(numbers: int) -> float:
    """Return the GB/s of `a = b + c` on float32 arrays of this many elements."""
    a, b, c = (torch.ones(numbers) for _ in range(3))
    return 3 * FLOAT * numbers / _fastest(lambda: torch.add(b, c, out=a)) / 1e9


def _multiply(m: int, k: int, n: int, left: bool, right: bool) -> Callable[[], Any]:
    a = torch.rand(k, m).t() if left else torch.rand(m, k)
    b = torch.rand(n, k).t() if right else torch.rand(k, n)
    out = torch.empty(m, n)
    return lambda: torch.mm(a, b, out=out)


def _fastest(work: Callable[[], Any], seconds: float = 0.03) -> float:
    work()
    times: list[float] = []
    while sum(times) < seconds or len(times) < 3:
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def _transposed(x: Tensor) -> bool:
    return x.dim() == 2 and x.stride(0) == 1 and x.shape[1] > 1 and x.stride(1) > 1
