"""What the tests of layers share: graphs, a layer with unusual weights, and its answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import pytest
import torch
from torch import Tensor

from graphtrial.graphs import GraphBatch
from graphtrial.nn.conv import Conv
from samples import AWKWARD, Graph, random_graphs, symmetric, vectors

WIDTH = 8
DIRECTED = {"awkward": AWKWARD, **{f"random-{seed}": random_graphs(6, seed) for seed in range(4)}}
UNDIRECTED: dict[str, list[Graph]] = {
    "awkward": [(nodes, symmetric(edges)) for nodes, edges in AWKWARD],
    **{f"random-{seed}": random_graphs(6, seed, undirected=True) for seed in range(4)},
}
directed = pytest.mark.parametrize("given", DIRECTED.values(), ids=DIRECTED)
undirected = pytest.mark.parametrize("given", UNDIRECTED.values(), ids=UNDIRECTED)
Layer = TypeVar("Layer", bound=Conv)


def made(kind: Callable[..., Layer], **settings: object) -> Layer:
    """A layer in double precision whose weights and biases are all different from their start."""
    torch.manual_seed(7)
    layer = kind(WIDTH, **settings).double()
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.add_(torch.randn_like(parameter) / 3)
    return layer


def output(layer: Conv, batch: GraphBatch, x: Tensor) -> Tensor:
    """The new node vectors."""
    e = vectors(batch.num_edges, WIDTH, seed=2) if layer.edge_state else None
    return layer(batch, x, e)[0]
