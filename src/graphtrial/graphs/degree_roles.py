"""Role of a node by its degree, the Weisfeiler-Leman encoding that Graph-BERT's successors really compute."""

from __future__ import annotations

import hashlib

import torch
from torch import Tensor

from graphtrial.graphs.batch import GraphBatch


def degree_roles(graph: GraphBatch) -> Tensor:
    """Return the rank of each node's colour among those of its graph, from 1, after one round of colour refinement.

    The released code of the graph transformer (arXiv:2012.09699) stops its refinement one round early, after the first,
    in which a colour is the degree alone; colours are ranked by the MD5 digest of their names. [nodes].
    """

    def compute() -> Tensor:
        degree = graph.in_degree
        names = ["_".join("1" * (1 + d)) for d in range(int(degree.max()) + 1 if len(degree) else 0)]
        digests = [hashlib.md5(name.encode(), usedforsecurity=False).hexdigest() for name in names]
        order = torch.tensor(sorted(range(len(names)), key=digests.__getitem__), device=degree.device)
        place = torch.empty_like(order).scatter_(0, order, torch.arange(len(order), device=degree.device))
        keys = graph.batch * len(names) + place.index_select(0, degree)
        distinct, role = torch.unique(keys, return_inverse=True)
        first = torch.searchsorted(distinct, torch.arange(graph.num_graphs, device=degree.device) * max(1, len(names)))
        roles: Tensor = role - first.index_select(0, graph.batch) + 1
        return roles

    return graph.cached("degree roles", compute)
