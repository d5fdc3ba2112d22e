"""Degree scalers of aggregated messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import torch
from torch import Tensor

from graphtrial.graphs import GraphBatch
from graphtrial.ops.recording import recordable

IDENTITY = "identity"
Scalers = Literal["identity amplification attenuation", "identity attenuation amplification", "identity"]


@recordable
def degree_scalers(graph: GraphBatch, names: tuple[str, ...], delta: float, dtype: torch.dtype) -> list[Tensor]:
    r"""Return the factors of each node, [nodes, 1] for each name.

    They are 1 (identity), :math:`\log(d + 1) / \delta` (amplification) and :math:`\delta / \log(d + 1)` (attenuation),
    with d the in-degree and :math:`\delta` the mean of :math:`\log(d + 1)` in the training set. For d = 0, where there
    is nothing to scale, d = 1 stands in.
    """

    def compute() -> list[Tensor]:
        ratio = (graph.in_degree.clamp(min=1).to(dtype).log1p() / delta).unsqueeze(1)
        factors = {IDENTITY: torch.ones_like(ratio), "amplification": ratio, "attenuation": ratio.reciprocal()}
        return [factors[name] for name in names]

    return graph.cached(f"scalers {names} {delta} {dtype}", compute)


def add_scaled(first: Tensor, parts: Iterable[Tensor], names: tuple[str, ...], factors: list[Tensor]) -> Tensor:
    """Return first + the sum of factor * part; the identity is not multiplied. [nodes, width] -> [nodes, width]."""
    out = first
    for part, name, factor in zip(parts, names, factors, strict=True):
        out = out + (part if name == IDENTITY else part * factor)
    return out
