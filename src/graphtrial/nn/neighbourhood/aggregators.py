"""Several aggregators of the messages of a neighbourhood side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import torch
from torch import Tensor

from graphtrial.graphs import GraphBatch
from graphtrial.ops import aggregate, aggregate_messages, edge_add

STD_EPS = 1e-5
FIELD_EPS = 1e-8


def neighbourhood(
    graph: GraphBatch,
    sent: Tensor,
    own: Tensor | None,
    edge: Tensor | None,
    names: tuple[str, ...],
    directions: Mapping[str, Tensor] | None = None,
    state: Tensor | None = None,
) -> list[Tensor]:
    r"""Aggregate the messages :math:`m_{ji} = sent_j + own_i + edge_{ji}` of each node's in-edges, once per name.

    Names are mean, sum, max, min, std, :math:`\sqrt{\max(E[m^2] - E[m]^2, 0) + 10^{-5}}`, and those of `directions`,
    the weights w [edges] of :math:`\sum_j w_{ji} m_{ji}`; where they end in -dx, it is the derivative
    :math:`|\sum_j w_{ji} m_{ji} - (\sum_j w_{ji}) state_i|`. Nodes without in-edges get 0. Without `edge` no tensor of
    edges x width is materialised: `own` only shifts what is aggregated. sent, own, state: [nodes, width]; edge: [edges,
    width] -> one [nodes, width] per name.
    """
    if edge is not None:
        messages = edge_add(graph, sent, torch.zeros_like(sent) if own is None else own) + edge
        own = None
    else:
        messages = sent

    def reduce(values: Tensor, how: str) -> Tensor:
        return (aggregate if edge is None else aggregate_messages)(graph, values, how)  # type: ignore[arg-type]

    def directed(name: str, weight: Tensor) -> Tensor:
        total = aggregate_messages(graph, weight.unsqueeze(1))
        out = aggregate(graph, messages, "sum", weight) if edge is None else reduce(messages * weight[:, None], "sum")
        out = out if own is None else out + own * total
        return (out - total * cast(Tensor, state)).abs() if name.endswith("-dx") else out

    degree = graph.in_degree.to(sent.dtype).unsqueeze(1)
    seen = degree.clamp(max=1)
    mean = reduce(messages, "mean") if {"mean", "std"} & set(names) else sent
    out = []
    for name in names:
        if directions and name in directions:
            out.append(directed(name, directions[name]))
        elif name == "std":
            variance = reduce(messages.square(), "mean") - mean.square()
            out.append((variance.relu() + STD_EPS).sqrt() * seen)
        else:
            values = mean if name == "mean" else -reduce(-messages, "max") if name == "min" else reduce(messages, name)
            out.append(values if own is None else values + own * (degree if name == "sum" else seen))
    return out


def direction_weights(graph: GraphBatch, field: Tensor, names: tuple[str, ...]) -> dict[str, Tensor]:
    r"""Return the edge weights of the directional aggregators among `names`, dirk-av and dirk-dx, [edges] each.

    With :math:`\Delta_{ji}` the difference source - target of column k of the field, counted from 1, they are
    :math:`|\Delta_{ji}|` or :math:`\Delta_{ji}`, divided by :math:`\sum_j |\Delta_{ji}| + 10^{-8}`. field: [nodes, K].
    """
    directional = [name for name in names if name.startswith("dir")]
    if not directional:
        return {}
    source, target = graph.edge_index
    difference = field.index_select(0, source) - field.index_select(0, target)
    total = aggregate_messages(graph, difference.abs()).index_select(0, target) + FIELD_EPS
    weights = {"dx": difference / total, "av": difference.abs() / total}
    return {name: weights[name[-2:]][:, direction(name) - 1] for name in directional}


def direction(name: str) -> int:
    """Return the column of the field that an aggregator reads, counted from 1; 0 for one that reads none."""
    return int(name[3:-3]) if name.startswith("dir") else 0
