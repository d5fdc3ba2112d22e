"""Eigenvectors of the graph Laplacian."""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from scipy import sparse
from torch import Tensor

from graphtrial.core.arguments import Width
from graphtrial.core.process import compute_settings
from graphtrial.core.signatures import validated
from graphtrial.encodings.base import ENCODINGS, Encoding
from graphtrial.encodings.sparse_eigenvectors import sparse_eigenvectors
from graphtrial.graphs import GraphSet
from graphtrial.graphs.pointers import ranges

Sign = Literal["random", "fixed", "absolute"]
DENSE_NUMBERS = 1 << 22  # at most 32 MB of matrices are decomposed at a time
DENSE_NODES = 2000  # larger graphs are decomposed as sparse matrices


@ENCODINGS.register("laplacian", title="Laplacian")
class LaplacianPE(Encoding):
    r"""The k eigenvectors of smallest non-trivial eigenvalue of the symmetric normalised Laplacian.

    .. math:: L = I - D^{-1/2} A D^{-1/2}

    D is the diagonal of in-degrees, at least 1; a directed graph counts as (A + A^T) / 2. One trivial vector is
    dropped, also in a graph of several components, whose further zero-eigenvalue vectors are kept. Graphs of k nodes or
    fewer are padded with zeros. Signs are arbitrary: `fixed` makes the entry of largest magnitude positive, `random`
    does so too but flips each vector at random for each training batch, `absolute` takes magnitudes. RingGNN and
    3WL-GNN get fixed signs unless random ones are asked for: the released loop of such models flips none. Vectors of a
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
        self.width = k
        self.sign = sign

    def cache_key(self) -> dict[str, Any]:
        return {"k": self.width, "absolute": self.sign == "absolute"}

    def compute(self, graphs: GraphSet) -> npt.NDArray[np.float32]:
        out = np.zeros((graphs.num_nodes, self.width), np.float32)
        with compute_settings():
            large = graphs.node_counts > max(DENSE_NODES, 4 * self.width)
            for graph in np.flatnonzero(large):
                eigenvectors = fix_signs(
                    torch.from_numpy(sparse_eigenvectors(_adjacency(graphs, int(graph)), self.width))
                )
                out[graphs.node_ptr[graph] : graphs.node_ptr[graph + 1], : eigenvectors.shape[1]] = eigenvectors.numpy()
            for size, chunk in _same_size_chunks(graphs, ~large):
                # One at a time: the rounding of LAPACK depends on where in memory a matrix starts, so in a batch the
                # basis of a repeated eigenvalue would depend on the graphs that came before.
                vectors = torch.stack([torch.linalg.eigh(matrix)[1] for matrix in _laplacians(graphs, chunk, size)])
                eigenvectors = fix_signs(vectors[:, :, 1 : self.width + 1])
                rows = ranges(graphs.node_ptr[chunk], np.full(len(chunk), size))
                out[rows, : eigenvectors.shape[2]] = eigenvectors.reshape(-1, eigenvectors.shape[2]).numpy()
        return np.abs(out) if self.sign == "absolute" else out

    def training_view(self, values: Tensor, generator: torch.Generator) -> Tensor:
        if self.sign != "random":
            return values
        flips = torch.randint(0, 2, (1, self.width), generator=generator)
        return values * (2 * flips - 1).to(values.device, values.dtype)


def fix_signs(vectors: Tensor) -> Tensor:
    """Flip each vector [..., nodes, k] so that its largest entry in magnitude, the first of equal ones, is positive."""
    if not vectors.numel():
        return vectors
    magnitude = vectors.abs()
    nearly_largest = magnitude >= magnitude.amax(dim=-2, keepdim=True) * (1 - 1e-8)
    first = nearly_largest.to(torch.uint8).argmax(dim=-2, keepdim=True)
    return vectors * vectors.gather(-2, first).sign()


def _same_size_chunks(graphs: GraphSet, chosen: npt.NDArray[np.bool_]) -> Iterator[tuple[int, npt.NDArray[np.int64]]]:
    counts = graphs.node_counts
    for size in np.unique(counts[chosen & (counts > 1)]):
        members = np.flatnonzero(counts == size)
        step = max(1, DENSE_NUMBERS // int(size) ** 2)
        for start in range(0, len(members), step):
            yield int(size), members[start : start + step]


def _laplacians(graphs: GraphSet, chunk: npt.NDArray[np.int64], size: int) -> Tensor:
    """Return the dense Laplacians of equally large graphs, [graphs, size, size]."""
    edge_counts = graphs.edge_counts[chunk]
    source, target = graphs.edge_index[:, ranges(graphs.edge_ptr[chunk], edge_counts)].astype(np.int64)
    cell = (np.repeat(np.arange(len(chunk)), edge_counts) * size + target) * size + source
    adjacency = np.bincount(cell, minlength=len(chunk) * size * size).astype(np.float64).reshape(-1, size, size)
    adjacency = (adjacency + adjacency.transpose(0, 2, 1)) / 2
    scale = 1 / np.sqrt(np.maximum(adjacency.sum(axis=2), 1))
    return torch.from_numpy(np.eye(size) - scale[:, :, None] * adjacency * scale[:, None, :])


def _adjacency(graphs: GraphSet, graph: int) -> sparse.csr_matrix:
    """Return the symmetric adjacency matrix of one graph."""
    edges = graphs.edge_index[:, graphs.edge_ptr[graph] : graphs.edge_ptr[graph + 1]].astype(np.int64)
    nodes = int(graphs.node_counts[graph])
    directed = sparse.csr_matrix((np.full(edges.shape[1], 0.5), (edges[0], edges[1])), (nodes, nodes))
    return (directed + directed.T).tocsr()
