"""GPS beside the same model on PyG's padded batches: training steps on ZINC and on PATTERN-like graphs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.data import graphs_for
from benchmarks.machine import pin_to_one_core, reset_peak
from benchmarks.match import OURS, Match, Side
from benchmarks.protocol import SkipError, Tick
from benchmarks.training import LEARNING_RATE, as_data

PYG = "PyG, padded"
BATCH = 32
WIDTH, HEADS, DROPOUT = 64, 4, 0.5
LAYERS = {"zinc": 10, "molecules": 10, "pattern": 6}


def matches(quick: bool) -> Iterable[Match]:
    """Yield training steps with GINE and GatedGCN, and attention alone, all with dropout of attention weights."""
    batches, rounds = (1, 1) if quick else (4, 5)
    for workload, local in (("zinc", "gine"), ("pattern", "gine"), ("pattern", "gatedgcn"), ("pattern", "none")):
        work = {"workload": workload, "local": local, "batches": batches}
        sides = (Side(OURS, "benchmarks.gps:graphtrial", work), Side(PYG, "benchmarks.gps:pyg", work))
        name = "attention alone" if local == "none" else local
        yield Match(f"gps/{name} on {workload}", sides, rounds, scale=1 / batches)


def graphtrial(ready: Callable[..., None], tick: Tick, workload: str, local: str, batches: int) -> None:
    """Train `gps` as trials do, on batches of 32 graphs; seconds are those of all batches, collated before."""
    from graphtrial.graphs import GraphBatch
    from graphtrial.nn import Shapes, build_model
    from graphtrial.tape.runner import warm_up

    pin_to_one_core()
    warm_up()
    ready()
    data, ids = graphs_for(workload, batches * BATCH)
    shapes = Shapes(outputs=1, level="graph", node_types=28, edge_types=4)
    torch.manual_seed(1)
    settings = {"width": WIDTH, "heads": HEADS, "layers": LAYERS[workload], "attention_dropout": DROPOUT}
    head = {"head": "san", "readout": "sum", "edge_features": workload != "pattern"}
    model = build_model("gps", shapes, {"local": local, **settings, **head})
    parts = [(GraphBatch.from_set(data, part), part) for part in ids.reshape(-1, BATCH)]
    train_as_trials(tick, model, parts, data)


def pyg(ready: Callable[..., None], tick: Tick, workload: str, local: str, batches: int) -> None:
    """Train the same model as GraphGPS writes it: `to_dense_batch` and `torch.nn.MultiheadAttention`."""
    try:
        from torch_geometric.data import Batch
    except ImportError as error:
        raise SkipError(f"PyG is not installed ({error})") from None
    pin_to_one_core()
    torch.set_num_threads(1)
    ready()
    data, ids = graphs_for(workload, batches * BATCH)
    torch.manual_seed(1)
    model = Twin(local, LAYERS[workload], edge_types=4 if workload != "pattern" else 1)
    parts = [(Batch.from_data_list(as_data(data, part)), part) for part in ids.reshape(-1, BATCH)]
    train(tick, model, parts, data, torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE))


def train_as_trials(tick: Tick, model: nn.Module, batches: list[tuple[Any, Any]], data: Any) -> None:
    """Train as trials do: AdamW in one call, recorded programs, and the allocator and flush-to-zero of a trial."""
    from graphtrial.core.process import compute_settings
    from graphtrial.tape.runner import TapedModel
    from graphtrial.training.optim.optimizers.adamw import AdamW

    optimizer = AdamW(lr=LEARNING_RATE).build(model.parameters())
    with compute_settings(threads=1):
        train(tick, model, batches, data, optimizer, TapedModel(model, getattr(optimizer, "gradient_buffers", None)))


def train(
    tick: Tick, model: nn.Module, batches: list[tuple[Any, Any]], data: Any, optimizer: Any, taped: Any = None
) -> None:
    """Train on these batches, each with the ids of its graphs, again and again; trials call `taped`."""
    call = taped or model
    target = torch.from_numpy(data.column("y").values.reshape(-1).astype("float32"))
    parameters = sum(p.numel() for p in model.parameters())
    reset_peak()
    while True:
        start, total = time.perf_counter(), 0.0
        for batch, part in batches:
            optimizer.zero_grad()
            loss = F.l1_loss(call(batch).flatten(), target[torch.from_numpy(part)])
            loss.backward()
            optimizer.step()
            total += loss.item()
        tick(time.perf_counter() - start, total / len(batches), parameters=parameters)


class TwinLayer(nn.Module):
    """GPS layer on a PyG batch."""

    def __init__(self, local: str) -> None:
        super().__init__()
        from torch_geometric.nn import GINEConv

        from benchmarks.twins import GatedGCNConv

        self.local: Any = None
        if local == "gine":
            mlp = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH))
            self.local = GINEConv(mlp)
        elif local == "gatedgcn":
            self.local = GatedGCNConv(WIDTH)
            self.node_norm, self.edge_norm = nn.BatchNorm1d(WIDTH), nn.BatchNorm1d(WIDTH)
        self.gated = local == "gatedgcn"
        self.attention = nn.MultiheadAttention(WIDTH, HEADS, dropout=DROPOUT, batch_first=True)
        self.norms = nn.ModuleList(nn.BatchNorm1d(WIDTH) for _ in range(3))
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.ReLU(), nn.Linear(2 * WIDTH, WIDTH))

    def forward(self, data: Any, x: Tensor, e: Tensor) -> tuple[Tensor, Tensor]:
        from torch_geometric.utils import to_dense_batch

        dense, mask = to_dense_batch(x, data.batch)
        attended = self.attention(dense, dense, dense, key_padding_mask=~mask, need_weights=False)[0][mask]
        h = self.norms[1](x + attended)
        if self.gated:
            new_x, new_e = self.local(x, data.edge_index, e)
            h = h + self.norms[0](x + F.relu(self.node_norm(new_x)))
            e = e + F.relu(self.edge_norm(new_e))
        elif self.local is not None:
            h = h + self.norms[0](x + self.local(x, data.edge_index, e))
        out: Tensor = self.norms[2](h + self.mlp(h))
        return out, e


class Twin(nn.Module):
    """GPS on a PyG batch: embeddings, layers, sum, MLP."""

    def __init__(self, local: str, layers: int, edge_types: int) -> None:
        super().__init__()
        self.nodes, self.edges = nn.Embedding(28, WIDTH), nn.Embedding(edge_types, WIDTH)
        self.layers = nn.ModuleList(TwinLayer(local) for _ in range(layers))
        self.head = nn.Sequential(
            nn.Linear(WIDTH, WIDTH // 2),
            nn.ReLU(),
            nn.Linear(WIDTH // 2, WIDTH // 4),
            nn.ReLU(),
            nn.Linear(WIDTH // 4, 1),
        )

    def forward(self, data: Any) -> Tensor:
        from torch_geometric.nn import global_add_pool

        x = self.nodes(data.x.flatten())
        kinds = data.edge_attr.flatten() if self.edges.num_embeddings > 1 else torch.zeros_like(data.edge_index[0])
        e = self.edges(kinds)
        for layer in self.layers:
            x, e = layer(data, x, e)
        out: Tensor = self.head(global_add_pool(x, data.batch, data.num_graphs))
        return out
