"""Random-walk kernel between all pairs of nodes of each graph."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from graphtrial.graphs.batch import GraphBatch
from graphtrial.graphs.pairs.complete import complete_graph
from graphtrial.graphs.pairs.walks import pair_walks


def walk_kernel(graph: GraphBatch, steps: int, gamma: float, dtype: torch.dtype) -> Tensor:
    r"""Return the entries of :math:`(I - \gamma L)^{steps}`, L the normalised Laplacian, [pairs]; cached.

    .. math:: \sum_k \binom{steps}{k} (1 - \gamma)^{steps - k} \gamma^k \,
        D^{1/2} (D^{-1} A)^k D^{-1/2}

    Pairs are those of `complete_graph`.
    """

    def compute() -> Tensor:
        chances = [math.comb(steps, k) * (1 - gamma) ** (steps - k) * gamma**k for k in range(steps + 1)]
        weights = torch.tensor(chances, dtype=dtype, device=graph.batch.device)
        walks = pair_walks(graph, steps + 1, dtype=dtype) @ weights
        column, row = complete_graph(graph).edge_index
        root = graph.out_degree.clamp(min=1).to(dtype).sqrt()
        kernel: Tensor = walks * root.index_select(0, row) / root.index_select(0, column)
        return kernel

    return graph.cached(f"walk kernel {steps} {gamma} {dtype}", compute)
