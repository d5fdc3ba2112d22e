"""PyG implementations of the Wiki-CS models, and full-batch training on one split."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric.nn import APPNP, GATConv, GCNConv


class Twin(nn.Module):
    """Two PyG layers; `GCNConv` with cached normalisation."""

    def __init__(self, kind: str, inputs: int, outputs: int, settings: dict[str, Any]) -> None:
        super().__init__()
        self.kind, self.dropout = kind, settings["dropout"]
        width, heads = settings["width"], settings.get("heads", 1)
        if kind == "gcn-direct":
            self.one, self.two = GCNConv(inputs, width, cached=True), GCNConv(width, outputs, cached=True)
        elif kind == "gat-direct":
            self.one = GATConv(inputs, width // heads, heads, dropout=self.dropout, bias=False)
            self.two = GATConv(width, outputs, dropout=self.dropout, bias=False)
        else:
            self.one, self.two = nn.Linear(inputs, width), nn.Linear(width, outputs)
        if kind == "appnp":
            dropped = {"dropout": settings["edge_dropout"], "add_self_loops": settings["self_loops"]}
            self.propagate = APPNP(settings["steps"], settings["alpha"], **dropped)

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        inputs = () if self.kind in ("mlp-direct", "appnp") else (edges,)
        if self.kind in ("gat-direct", "appnp"):
            x = F.dropout(x, self.dropout, self.training)
        x = self.one(x, *inputs)
        x = F.dropout(F.elu(x) if self.kind == "gat-direct" else x.relu(), self.dropout, self.training)
        x = self.two(x, *inputs)
        return self.propagate(x, edges) if self.kind == "appnp" else x


def train_twin(kind: str, settings: dict[str, Any], job: Any) -> float:
    """Train, validate every epoch, evaluate the best weights on all three sets; return the last validation loss."""
    torch.manual_seed(job.seed)
    x, edges, y = job.whole.x, job.whole.edge_index, job.whole.y
    train, val, test = (torch.from_numpy(ids.copy()) for ids in (job.train_ids, job.val_ids, job.test_ids))
    model = Twin(kind, x.shape[1], int(y.max()) + 1, settings)
    rules = job.rules.flat()
    optimizer = torch.optim.Adam(
        model.parameters(), lr=rules["optimizer.lr"], weight_decay=rules["optimizer.weight_decay"]
    )
    lowest, best, loss = float("inf"), model.state_dict(), float("nan")
    for _ in range(job.rules.max_epochs):
        model.train()
        optimizer.zero_grad()
        F.cross_entropy(model(x, edges)[train], y[train]).backward()
        optimizer.step()
        model.eval()
        with torch.no_grad():
            logits = model(x, edges)[val]
            loss = float(F.cross_entropy(logits, y[val]))
            float((logits.argmax(dim=1) == y[val]).float().mean())
        if loss < lowest:
            lowest, best = loss, {name: value.clone() for name, value in model.state_dict().items()}
    model.load_state_dict(best)
    with torch.no_grad():
        correct = model(x, edges).argmax(dim=1) == y
        for ids in (train, val, test):
            float(correct[ids].float().mean())
    return loss
