"""Helpers of the GraphGPS tests: modules with random weights, batches, plain loops over nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import torch
from tests.helpers.samples import DEGENERATE, Graph, batch_of, random_graphs, symmetric
from torch import Tensor, nn

from graphtrial.graphs import GraphBatch

Module = TypeVar("Module", bound=nn.Module)
GRAPHS: list[Graph] = [*random_graphs(5, seed=3), *DEGENERATE, (12, [(i, 3 * i % 12) for i in range(12)])]
SINGLE_LOOPS: list[Graph] = [
    (n, [*{e for e in edges if e[0] == e[1]}, *(e for e in edges if e[0] != e[1])]) for n, edges in GRAPHS
]
"""The same without a second loop at a node, which PyG's GCN merges with the first."""
SIMPLE: list[Graph] = [(n, symmetric([e for e in sorted({*edges}) if e[0] < e[1]])) for n, edges in GRAPHS if n]
"""Undirected graphs without loops and parallel edges."""


def shaken(module: Module, seed: int = 7) -> Module:
    """The module in double precision, all weights, biases and running statistics different from their start."""
    torch.manual_seed(seed)
    module = module.double()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(torch.randn_like(parameter) / 3)
        for name, buffer in module.named_buffers():
            if name.endswith(("running_mean", "running_var")):
                buffer.add_(torch.rand_like(buffer))
    return module


def batch(graphs: list[Graph] | None = None) -> GraphBatch:
    collated = batch_of(GRAPHS if graphs is None else graphs)
    return collated.with_column("encoding", collated.columns["encoding"].double())


def graphs_of(graph: GraphBatch) -> Iterator[range]:
    """The nodes of each graph."""
    for begin, end in zip(graph.ptr[:-1].tolist(), graph.ptr[1:].tolist(), strict=True):
        yield range(begin, end)


def in_edges(graph: GraphBatch, node: int) -> list[tuple[int, int]]:
    """The (edge, source) pairs of a node."""
    edges = range(int(graph.in_ptr[node]), int(graph.in_ptr[node + 1]))
    return [(edge, int(graph.edge_index[0, edge])) for edge in edges]


def norm(layer: nn.Module, x: Tensor) -> Tensor:
    """Batch norm in evaluation."""
    scale = (x - layer.running_mean) / (layer.running_var + layer.eps).sqrt()
    return scale * layer.weight + layer.bias
