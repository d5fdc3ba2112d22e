"""SignNet as in GraphGPS: sign-invariant encoding of Laplacian eigenvectors."""

from __future__ import annotations

from torch import Tensor, nn

from graphtrial.graphs import GraphBatch
from graphtrial.nn.layers import BatchNorm, Dropout, Linear
from graphtrial.nn.position.eigenpairs import split_pairs
from graphtrial.ops import aggregate

HIDDEN = 64
LAYERS = 8
"""Depth of phi in every released configuration."""


class SignNet(nn.Module):
    r"""SignNet, Lim et al. 2023 (arXiv:2202.13013), in the two variants of GraphGPS.

    .. math:: p = \rho\big([\phi(v_k) + \phi(-v_k)]_k\big)
        \quad \text{or} \quad \rho\Big(\sum_{k < n} \phi(v_k) + \phi(-v_k)\Big)

    phi is a GIN over the graph, applied to each eigenvector as the only feature. "mlp" concatenates outputs of width 4
    and has a rho of 2 linear layers; "deepset" sums outputs of width 64 over the frequencies that the graph has and has
    a rho of 3. Eigenvalues are not read; missing eigenvectors are 0. values: [nodes, 2 K] -> [nodes, width].
    """

    def __init__(self, frequencies: int, width: int, *, deepset: bool) -> None:
        super().__init__()
        self.deepset = deepset
        outputs = HIDDEN if deepset else 4
        self.phi = Phi(outputs)
        self.rho = mlp(outputs if deepset else outputs * frequencies, width, layers=3 if deepset else 2)

    def forward(self, graph: GraphBatch, values: Tensor) -> Tensor:
        vectors, _, present = split_pairs(values)
        encoded = self.phi(graph, vectors) + self.phi(graph, -vectors)
        if self.deepset:
            encoded = encoded.masked_fill(~present.unsqueeze(2), 0.0).sum(dim=1)
        out: Tensor = self.rho(encoded.flatten(1))
        return out


class Phi(nn.Module):
    """GIN of 8 layers on one scalar per node, for several such features at once.

    Dropout acts before batch norm and within the updates. Batch norm takes its statistics over nodes and eigenvectors,
    also those that a small graph lacks. vectors: [nodes, K] -> [nodes, K, outputs].
    """

    def __init__(self, outputs: int, hidden: int = HIDDEN, dropout: float = 0.0) -> None:
        super().__init__()
        inputs = [1, *[hidden] * (LAYERS - 1)]
        self.updates = nn.ModuleList(
            mlp(size, outputs if at == LAYERS - 1 else hidden, layers=2, hidden=hidden, dropout=dropout)
            for at, size in enumerate(inputs)
        )
        self.dropout = Dropout(dropout)
        self.norms = nn.ModuleList(BatchNorm(hidden) for _ in inputs[1:])

    def forward(self, graph: GraphBatch, vectors: Tensor) -> Tensor:
        nodes, frequencies = vectors.shape
        x = vectors.reshape(-1, 1)
        for at, update in enumerate(self.updates):
            if at:
                x = self.norms[at - 1](self.dropout(x))
            summed = aggregate(graph, x.view(nodes, frequencies * x.shape[1]), "sum", self_weight=x.new_ones(()))
            x = update(summed.view(len(x), x.shape[1]))
        return x.view(nodes, frequencies, x.shape[1])


def mlp(inputs: int, outputs: int, layers: int, hidden: int = HIDDEN, dropout: float = 0.0) -> nn.Sequential:
    """Return linear layers of one hidden width, each but the last followed by ReLU, batch norm and dropout."""
    sizes = [inputs, *[hidden] * (layers - 1)]
    drop = [Dropout(dropout)] if dropout else []
    steps = [(Linear(before, hidden), nn.ReLU(), BatchNorm(hidden), *drop) for before in sizes[:-1]]
    return nn.Sequential(*(part for step in steps for part in step), Linear(sizes[-1], outputs))
