"""Benchmarked models, at the widths of the papers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

LAYERS = 4
BATCH = 128
WALK_STEPS = 20


@dataclass(frozen=True)
class Entry:
    """Registered name of a model, its title in tables, and its width on each workload.

    `settings` are passed to GraphTrial's model; the PyG baseline has them built in.
    """

    name: str
    title: str
    zinc: int
    pattern: int
    wiki: int
    settings: dict[str, Any] = field(default_factory=dict)
    layers: int = LAYERS

    def width(self, workload: str) -> int:
        """Return the width on `zinc`, `pattern` or `wiki` graphs."""
        return int(getattr(self, workload))


ENTRIES = (
    Entry("mlp", "MLP", zinc=150, pattern=150, wiki=125),
    Entry("gcn", "GCN", zinc=145, pattern=146, wiki=120),
    Entry("gin", "GIN", zinc=110, pattern=110, wiki=96),
    Entry("graphsage", "GraphSage-mean", zinc=108, pattern=108, wiki=90, settings={"aggregator": "mean"}),
    Entry("gat", "GAT", zinc=144, pattern=152, wiki=120, settings={"heads": 8}),
    Entry("monet", "MoNet", zinc=90, pattern=90, wiki=80, settings={"kernels": 3}),
    Entry("gatedgcn", "GatedGCN", zinc=70, pattern=70, wiki=65),
)
DENSE = (
    Entry("3wl-gnn", "3WL-GNN", zinc=79, pattern=82, wiki=0, layers=3),
    Entry("ringgnn", "RingGNN", zinc=34, pattern=45, wiki=0, layers=2),
)
"""Rank-2 models, compared with a loop over single graphs instead of PyG."""

BY_NAME = {entry.name: entry for entry in (*ENTRIES, *DENSE)}

MODELS_OF = {
    "zinc": tuple(entry.name for entry in ENTRIES),
    "pattern": ("gcn", "gin", "graphsage", "gat", "monet", "gatedgcn"),
    "wiki": ("gcn", "gat"),
}
"""Models of each workload; unregistered ones are reported as skipped."""
