"""Eigenvectors of the graph Laplacian."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from graphtrial.core.arguments import Width
from graphtrial.core.process import compute_settings
from graphtrial.core.signatures import validated
from graphtrial.encodings.base import ENCODINGS, Encoding
from graphtrial.encodings.sparse_eigenvectors import sparse_eigenvectors
from graphtrial.encodings.spectrum import DENSE_NODES, adjacency_matrix, dense_eigenpairs, fix_signs, flip_signs
from graphtrial.graphs import GraphSet

Sign = Literal["random", "fixed", "absolute"]


@ENCODINGS.register("laplacian", title="Laplacian")
class LaplacianPE(Encoding):
    r"""The k eigenvectors of smallest non-trivial eigenvalue of the symmetric normalised Laplacian.

    .. math:: L = I - D^{-1/2} A D^{-1/2}

    D is the diagonal of in-degrees, at least 1; a directed graph counts as (A + A^T) / 2. One trivial vector is
    dropped, also in a graph of several components, whose other zero-eigenvalue vectors are retained. Graphs of k nodes
    or fewer are padded with zeros. Signs are arbitrary: `fixed` makes the entry of largest magnitude positive, `random`
    does so too but flips each vector at random for each training batch, `absolute` takes magnitudes. RingGNN and
    3WL-GNN get fixed signs unless random ones are set: the released loop of such models flips none. Vectors of a
    repeated eigenvalue are an arbitrary basis of their space, reproducible on one kind of machine. Graphs of more than
    2000 nodes are decomposed by an iteration over sparse matrices.
    """

    name = "laplacian"
    abbreviation = "LapPE"
    version = 2
    relabelling = "sign"
    unrandomised = MappingProxyType({"sign": "fixed"})

    @validated
    def __init__(self, k: Width, sign: Sign = "random") -> None:
        self.k = self.width = k
        self.sign = sign

    def cache_key(self) -> dict[str, Any]:
        return {"k": self.width, "absolute": self.sign == "absolute"}

    def compute(self, graphs: GraphSet) -> npt.NDArray[np.float32]:
        out = np.zeros((graphs.num_nodes, self.width), np.float32)
        with compute_settings():
            large = graphs.node_counts > max(DENSE_NODES, 4 * self.width)
            for graph in np.flatnonzero(large):
                eigenvectors = fix_signs(
                    torch.from_numpy(sparse_eigenvectors(adjacency_matrix(graphs, int(graph)), self.width))
                )
                out[graphs.node_ptr[graph] : graphs.node_ptr[graph + 1], : eigenvectors.shape[1]] = eigenvectors.numpy()
            for rows, _, vectors in dense_eigenpairs(graphs, ~large):
                eigenvectors = fix_signs(vectors[:, :, 1 : self.width + 1])
                out[rows, : eigenvectors.shape[2]] = eigenvectors.reshape(-1, eigenvectors.shape[2]).numpy()
        return np.abs(out) if self.sign == "absolute" else out

    def training_view(self, values: Tensor, generator: torch.Generator) -> Tensor:
        return flip_signs(values, self.width, generator) if self.sign == "random" else values
