"""Helpers of layer and model tests: graphs, layers with random weights, supported task levels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import pytest
import torch
from tests.helpers.samples import DEGENERATE, Graph, random_graphs, symmetric, vectors
from torch import Tensor

from graphtrial.graphs import GraphBatch
from graphtrial.nn import MODELS, Shapes, model_settings
from graphtrial.nn.conv import Conv

WIDTH = 8
DIRECTED = {"degenerate": DEGENERATE, **{f"random-{seed}": random_graphs(6, seed) for seed in range(4)}}
UNDIRECTED: dict[str, list[Graph]] = {
    "degenerate": [(nodes, symmetric(edges)) for nodes, edges in DEGENERATE],
    **{f"random-{seed}": random_graphs(6, seed, undirected=True) for seed in range(4)},
}
directed = pytest.mark.parametrize("given", DIRECTED.values(), ids=DIRECTED)
undirected = pytest.mark.parametrize("given", UNDIRECTED.values(), ids=UNDIRECTED)
Layer = TypeVar("Layer", bound=Conv)


def build_layer(kind: Callable[..., Layer], **settings: object) -> Layer:
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


def levels_of(name: str) -> tuple[str, ...]:
    """Task levels that a model supports."""
    kind = MODELS.get(name)
    if issubclass(kind, Conv):
        return ("graph", "node", "edge", "pair", "node and graph")
    return kind.levels


def suited(name: str, shapes: Shapes) -> Shapes:
    """Shapes of the same data at a task level that the model supports.

    A model that needs an encoding gets one.
    """
    if needs_encoding(name) and not shapes.encoding_dim:
        shapes = replace(shapes, encoding_dim=3)
    if "graph" in levels_of(name):
        return shapes
    if "pair" in levels_of(name):
        return replace(shapes, level="pair", outputs=1, num_nodes=21)
    return replace(shapes, level="edge", outputs=2, edge_types=0, edge_dim=1)


def needs_encoding(name: str) -> bool:
    """Whether a model cannot be built without a positional encoding."""
    return getattr(MODELS.get(name), "needs_encoding", False)


def accepted_settings(name: str, **settings: Any) -> dict[str, Any]:
    """Those of the settings that the model has."""
    return {key: value for key, value in settings.items() if key in model_settings(name)}


GRAPH_MODELS = [name for name in MODELS if "graph" in levels_of(name)]
"""Every model that supports graph-level tasks."""

WIDE_MODELS = [name for name in MODELS if "width" in model_settings(name)]
"""Every model with a width."""
