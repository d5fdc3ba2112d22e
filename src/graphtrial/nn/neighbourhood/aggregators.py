"""Several aggregators of the messages of a neighbourhood side by side."""

from __future__ import annotations

import torch
from torch import Tensor

from graphtrial.graphs import GraphBatch
from graphtrial.ops import aggregate, aggregate_messages, edge_add

STD_EPS = 1e-5


def neighbourhood(
    graph: GraphBatch, sent: Tensor, own: Tensor | None, edge: Tensor | None, names: tuple[str, ...]
) -> list[Tensor]:
    r"""Aggregate the messages :math:`m_{ji} = sent_j + own_i + edge_{ji}` of each node's in-edges, once per name.

    Names are mean, sum, max, min and std, :math:`\sqrt{\max(E[m^2] - E[m]^2, 0) + 10^{-5}}`; nodes without in-edges get
    0. Without `edge` no tensor of edges x width is made: `own` only shifts what is aggregated.
    sent, own: [nodes, width]; edge: [edges, width] -> one [nodes, width] per name.
    """
    if edge is not None:
        messages = edge_add(graph, sent, torch.zeros_like(sent) if own is None else own) + edge
        own = None
    else:
        messages = sent

    def reduce(values: Tensor, how: str) -> Tensor:
        return (aggregate if edge is None else aggregate_messages)(graph, values, how)  # type: ignore[arg-type]

    degree = graph.in_degree.to(sent.dtype).unsqueeze(1)
    seen = degree.clamp(max=1)
    mean = reduce(messages, "mean") if {"mean", "std"} & set(names) else sent
    out = []
    for name in names:
        if name == "std":
            variance = reduce(messages.square(), "mean") - mean.square()
            out.append((variance.relu() + STD_EPS).sqrt() * seen)
            continue
        values = mean if name == "mean" else -reduce(-messages, "max") if name == "min" else reduce(messages, name)
        out.append(values if own is None else values + own * (degree if name == "sum" else seen))
    return out
