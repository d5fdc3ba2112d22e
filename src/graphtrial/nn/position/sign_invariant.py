"""SignNet as in its own repository: sign-invariant positions from eigenvectors."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from graphtrial.graphs import GraphBatch
from graphtrial.nn.position.eigenpairs import split_pairs
from graphtrial.nn.position.encoder import EIGENPAIRS
from graphtrial.nn.position.signnet import LAYERS, Phi, mlp
from graphtrial.nn.shapes import EncodingShape


class SignInvariant(nn.Module):
    r"""Sign-invariant network of eigenvectors, Lim et al. 2023 (arXiv:2202.13013), as released.

    .. math:: p = \rho\big([\phi(v_k) + \phi(-v_k)]_k\big)
        \quad \text{or, with `summed`,} \quad \rho\Big(\sum_{k < n} \phi(v_k) + \phi(-v_k)\Big)

    phi is a GIN of 8 layers and rho an MLP of 8 layers, both of hidden width `width`, with `dropout`; n is the number
    of nodes of the graph. Columns are those of the part of an encoding: eigenvectors, or eigenpairs, of which only the
    vectors are read. values: [nodes, columns] -> [nodes, K], as many as there are eigenvectors.
    """

    def __init__(self, part: EncodingShape, width: int, *, phi_width: int, summed: bool, dropout: float = 0.0) -> None:
        super().__init__()
        self.summed = summed
        self.pairs = part.name == EIGENPAIRS
        self.vectors = part.width // 2 if self.pairs else part.width
        self.phi = Phi(phi_width, width, dropout)
        inputs = phi_width if summed else phi_width * self.vectors
        self.rho = mlp(inputs, self.vectors, layers=LAYERS, hidden=width, dropout=dropout)

    def forward(self, graph: GraphBatch, values: Tensor) -> Tensor:
        vectors = split_pairs(values)[0] if self.pairs else values
        encoded = self.phi(graph, vectors) + self.phi(graph, -vectors)
        if self.summed:
            nodes = graph.ptr.diff().index_select(0, graph.batch)
            beyond = torch.arange(self.vectors, device=values.device) >= nodes.unsqueeze(1)
            encoded = encoded.masked_fill(beyond.unsqueeze(2), 0.0).sum(dim=1)
        out: Tensor = self.rho(encoded.flatten(1))
        return out
