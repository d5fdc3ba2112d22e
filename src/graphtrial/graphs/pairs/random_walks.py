"""Random-walk probabilities between all pairs of nodes of each graph (RRWP)."""

from __future__ import annotations

import torch
from torch import Tensor

from graphtrial.graphs.batch import GraphBatch
from graphtrial.graphs.pairs.buckets import Bucket, Plan, bucket_plan
from graphtrial.graphs.pairs.complete import pair_index

MAX_PAIRS = 1 << 16
PADDING_COST = 4096


def random_walk_pairs(graph: GraphBatch, first: int, last: int, dtype: torch.dtype) -> Tensor:
    r"""Return :math:`(P^k)_{ij}` for all pairs of nodes and k from `first` to `last`, [pairs, last - first + 1].

    :math:`P = D^{-1} A` leaves a node by one of its out-edges, each of parallel ones as likely; a walk at a node
    without out-edges is over. Pairs are the rows of a matrix [i, j] of each graph, one graph after the other, as in
    `complete_graph`.
    """
    plan = bucket_plan(graph, MAX_PAIRS, PADDING_COST)
    pairs = int(graph.ptr.diff().square().sum())
    out = torch.zeros(pairs, last - first + 1, dtype=dtype, device=graph.edge_index.device)
    step = _transition(graph, plan, dtype)
    for bucket, row in zip(plan.buckets, bucket_pairs(graph, plan), strict=True):
        size = bucket.graphs, bucket.size, bucket.size
        walk = step[bucket.start : bucket.start + bucket.pairs].view(size)
        power = torch.eye(bucket.size, dtype=dtype, device=out.device).expand(size)
        real = row >= 0
        for k in range(last + 1):
            if k:
                power = torch.bmm(power, walk)
            if k >= first:
                out[row[real], k - first] = power.reshape(-1)[real]
    return out


def edge_walks(graph: GraphBatch, steps: int, dtype: torch.dtype) -> Tensor:
    """Return the probabilities of walks of 1 to `steps` steps from source to target of each edge; cached.

    [edges, steps].
    """

    def compute() -> Tensor:
        rows = pair_index(graph, graph.edge_index[0], graph.edge_index[1])
        return random_walk_pairs(graph, 1, steps, dtype).index_select(0, rows)

    return graph.cached(f"edge walks {steps} {dtype}", compute)


def bucket_pairs(graph: GraphBatch, plan: Plan) -> list[Tensor]:
    """Return the position of each padded pair of a bucket among all pairs, -1 for padding, [pairs] per bucket."""
    sizes = graph.ptr.diff()
    starts = sizes.square().cumsum(0) - sizes.square()
    order = torch.argsort(plan.graph_place)
    out, begin = [], 0
    for bucket in plan.buckets:
        out.append(_rows(bucket, starts[order[begin : begin + bucket.graphs]]))
        begin += bucket.graphs
    return out


def _rows(bucket: Bucket, starts: Tensor) -> Tensor:
    local = torch.arange(bucket.size, device=starts.device)
    rows = starts[:, None, None] + local[:, None] * bucket.sizes[:, None, None] + local
    if bucket.present is None:
        return rows.flatten()
    real = bucket.present.unsqueeze(2) & bucket.present.unsqueeze(1)
    return torch.where(real, rows, -1).flatten()


def _transition(graph: GraphBatch, plan: Plan, dtype: torch.dtype) -> Tensor:
    """Return the transition matrices P of all graphs, padded, one after the other."""
    source, target = graph.edge_index
    owner = graph.batch[source]
    first = graph.ptr[owner]
    at = plan.pair_base[owner] + (source - first) * plan.pair_stride[owner] + target - first
    padded = plan.buckets[-1].start + plan.buckets[-1].pairs if plan.buckets else 0
    probability = graph.out_degree.to(dtype).reciprocal().index_select(0, source)
    return torch.zeros(padded, dtype=dtype, device=source.device).index_add(0, at, probability)
