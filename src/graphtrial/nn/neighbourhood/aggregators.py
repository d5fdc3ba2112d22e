"""Several aggregators of the messages of a neighbourhood side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import torch
from torch import Tensor

from graphtrial.graphs import GraphBatch
from graphtrial.ops import aggregate, aggregate_messages, edge_add
from graphtrial.ops.multi_aggregate import reduce_messages

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

    def directed(name: str, weight: Tensor) -> Tensor:
        total = aggregate_messages(graph, weight.unsqueeze(1))
        if edge is None:
            out = aggregate(graph, messages, "sum", weight)
        else:
            out = aggregate_messages(graph, messages * weight[:, None])
        out = out if own is None else out + own * total
        return (out - total * cast(Tensor, state)).abs() if name.endswith("-dx") else out

    directions = directions or {}
    plain = tuple(name for name in names if name not in directions)
    parts = dict(zip(plain, reduce_messages(graph, messages, own, plain, on_edges=edge is not None), strict=True))
    return [directed(name, directions[name]) if name in directions else parts[name] for name in names]


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
