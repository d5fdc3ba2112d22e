"""Degree scalers of aggregated messages."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from graphtrial.graphs import GraphBatch

Scalers = Literal["identity amplification attenuation", "identity attenuation amplification", "identity"]


def degree_scalers(graph: GraphBatch, names: tuple[str, ...], delta: float, dtype: torch.dtype) -> Tensor:
    r"""Return the factors of each node, [nodes, names].

    They are 1 (identity), :math:`\log(d + 1) / \delta` (amplification) and :math:`\delta / \log(d + 1)` (attenuation),
    with d the in-degree and :math:`\delta` the mean of :math:`\log(d + 1)` in the training set. For d = 0, where there
    is nothing to scale, d = 1 stands in.
    """

    def compute() -> Tensor:
        ratio = graph.in_degree.clamp(min=1).to(dtype).log1p() / delta
        factors = {"identity": torch.ones_like(ratio), "amplification": ratio, "attenuation": ratio.reciprocal()}
        return torch.stack([factors[name] for name in names], dim=1)

    return graph.cached(f"scalers {names} {delta} {dtype}", compute)
