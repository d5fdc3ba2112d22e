"""Operators of PNA beside library calls: towers, and several aggregators in one pass (see `operators`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from graphtrial.graphs import GraphBatch
from graphtrial.ops import multi_aggregate, tower_linear
from graphtrial.ops.multi_aggregate import STD_EPS

TOWERS = 4
AGGREGATORS = ("mean", "max", "min", "std")


def principal_cases(
    graph: GraphBatch, width: int
) -> Iterator[tuple[str, Callable[..., Tensor], Callable[..., Tensor], tuple[Tensor, ...]]]:
    """Yield name, our operator, the library calls and the inputs, on channels of 4 towers."""
    size = width // TOWERS
    channels = TOWERS * size
    sender, receiver = graph.edge_index
    index = receiver.unsqueeze(1).expand(-1, channels)
    nodes = graph.num_nodes
    x, own, stacked = (torch.randn(nodes, columns) for columns in (channels, channels, len(AGGREGATORS) * channels))
    edge = torch.randn(graph.num_edges, channels)
    seen = graph.in_degree.clamp(max=1).unsqueeze(1)

    def einsum(x: Tensor, weight: Tensor) -> Tensor:
        return torch.einsum("nti,toi->nto", x.unflatten(1, (TOWERS, -1)), weight).flatten(1)

    def scattered(sent: Tensor, own: Tensor, edge: Tensor) -> Tensor:
        messages = sent.index_select(0, sender) + own.index_select(0, receiver) + edge
        zeros = torch.zeros_like(sent)

        def reduce(values: Tensor, how: str) -> Tensor:
            return zeros.scatter_reduce(0, index, values, how, include_self=False)

        mean = reduce(messages, "mean")
        std = ((reduce(messages.square(), "mean") - mean.square()).relu() + STD_EPS).sqrt() * seen
        parts = mean, reduce(messages, "amax"), reduce(messages, "amin"), std
        return torch.cat([part.unflatten(1, (TOWERS, -1)) for part in parts], dim=2).flatten(1)

    for inputs, values in ((size, x), (len(AGGREGATORS) * size, stacked)):
        weight = torch.randn(TOWERS, size, inputs)
        yield f"towers of {inputs} inputs (einsum)", tower_linear, einsum, (values, weight)
    yield (
        "PNA's aggregators (scatter_reduce)",
        lambda sent, own, edge: multi_aggregate(graph, sent, own, edge, AGGREGATORS, TOWERS),
        scattered,
        (x, own, edge),
    )
