"""Eigenvalues and eigenvectors of graph Laplacians, and the signs of eigenvectors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
import numpy.typing as npt
import torch
from scipy import sparse
from torch import Tensor

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.process import compute_settings
from graphtrial.encodings.sparse_eigenvectors import sparse_eigenvectors
from graphtrial.graphs import GraphSet
from graphtrial.graphs.pointers import ranges
from graphtrial.graphs.transfer import to_device

Normalization = Literal["sym", "none"]
"""`sym`: I - D^{-1/2} A D^{-1/2}; `none`: D - A."""
DENSE_NUMBERS = 1 << 22  # at most 32 MB of matrices are decomposed at a time
DENSE_NODES = 2000  # larger graphs are decomposed as sparse matrices
MOST_DENSE_NODES = 6000  # largest graph of which all eigenvectors are computed: a minute or two


def dense_eigenpairs(
    graphs: GraphSet, chosen: npt.NDArray[np.bool_], normalization: Normalization = "sym", smallest: int = 2
) -> Iterator[tuple[npt.NDArray[np.int64], Tensor, Tensor]]:
    """Yield all eigenpairs of the chosen graphs of at least `smallest` nodes, in chunks of graphs of n nodes each.

    Yields the rows of the nodes [graphs * n], ascending eigenvalues [graphs, n] and eigenvectors [graphs, n, n].
    """
    for size, chunk in _same_size_chunks(graphs, chosen, smallest):
        # One at a time: the rounding of LAPACK depends on where in memory a matrix starts, so in a batch the
        # basis of a repeated eigenvalue would depend on the graphs that came before.
        pairs = [torch.linalg.eigh(matrix) for matrix in _laplacians(graphs, chunk, size, normalization)]
        rows = ranges(graphs.node_ptr[chunk], np.full(len(chunk), size))
        yield rows, torch.stack([values for values, _ in pairs]), torch.stack([vectors for _, vectors in pairs])


def smallest_eigenpairs(
    graphs: GraphSet, k: int, normalization: Normalization, padding: float
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Return the k eigenvectors of smallest eigenvalue, the trivial one included, and their eigenvalues, [nodes, k].

    Eigenvectors have norm 1 and their entry of largest magnitude positive; columns that a graph lacks are `padding`.
    """
    vectors = np.full((graphs.num_nodes, k), padding, np.float32)
    values = np.full((graphs.num_nodes, k), padding, np.float32)
    large = graphs.node_counts > (max(DENSE_NODES, 4 * k) if normalization == "sym" else MOST_DENSE_NODES)
    if normalization != "sym":
        check_dense(graphs, "eigenvectors of D - A")
    with compute_settings():
        for graph in np.flatnonzero(large):
            rows = slice(graphs.node_ptr[graph], graphs.node_ptr[graph + 1])
            some, pairs = _sparse_pairs(adjacency_matrix(graphs, int(graph)), k)
            vectors[rows, : len(some)] = fix_signs(torch.from_numpy(pairs)).numpy()
            values[rows, : len(some)] = some
        for nodes, all_values, all_vectors in dense_eigenpairs(graphs, ~large, normalization, smallest=1):
            count, size, _ = all_vectors.shape
            width = min(k, size)
            vectors[nodes, :width] = fix_signs(all_vectors[:, :, :width]).reshape(-1, width).numpy()
            some_values = all_values[:, None, :width].clamp(min=0).expand(count, size, width)
            values[nodes, :width] = some_values.reshape(-1, width).numpy()
    return vectors, values


def check_dense(graphs: GraphSet, subject: str) -> None:
    """Raise an error where a graph is too large for all of its eigenvectors."""
    largest = int(graphs.node_counts.max(initial=0))
    if largest > MOST_DENSE_NODES:
        raise GraphTrialError(
            f"{subject} are for graphs of up to {MOST_DENSE_NODES:,} nodes; the largest has {largest:,}"
        )


def fix_signs(vectors: Tensor) -> Tensor:
    """Flip each vector [..., nodes, k] so that its largest entry in magnitude, the first of equal ones, is positive."""
    if not vectors.numel():
        return vectors
    magnitude = vectors.abs()
    nearly_largest = magnitude >= magnitude.amax(dim=-2, keepdim=True) * (1 - 1e-8)
    first = nearly_largest.to(torch.uint8).argmax(dim=-2, keepdim=True)
    return vectors * vectors.gather(-2, first).sign()


def flip_signs(values: Tensor, columns: int, generator: torch.Generator) -> Tensor:
    """Flip each of the first `columns` columns at random, one sign for all graphs of the batch."""
    flips = torch.randint(0, 2, (1, columns), generator=generator)
    signs = to_device((2 * flips - 1).to(values.dtype), values.device)
    if columns == values.shape[1]:
        return values * signs
    return torch.cat([values[:, :columns] * signs, values[:, columns:]], dim=1)


def adjacency_matrix(graphs: GraphSet, graph: int) -> sparse.csr_matrix:
    """Return the symmetric adjacency matrix of one graph, (A + A^T) / 2."""
    edges = graphs.edge_index[:, graphs.edge_ptr[graph] : graphs.edge_ptr[graph + 1]].astype(np.int64)
    nodes = int(graphs.node_counts[graph])
    directed = sparse.csr_matrix((np.full(edges.shape[1], 0.5), (edges[0], edges[1])), (nodes, nodes))
    return (directed + directed.T).tocsr()


def _sparse_pairs(adjacency: sparse.csr_matrix, k: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the k smallest eigenvalues of the normalised Laplacian of a large graph, and eigenvectors [nodes, k]."""
    degree = np.asarray(adjacency.sum(axis=1)).ravel()
    trivial = np.sqrt(degree) if degree.any() else np.eye(1, len(degree)).ravel()
    others = sparse_eigenvectors(adjacency, max(1, k - 1))[:, : k - 1]
    vectors = np.column_stack([trivial / np.linalg.norm(trivial), others])
    scale = sparse.diags(1 / np.sqrt(np.maximum(degree, 1)))
    values = 1 - np.einsum("nk,nk->k", vectors, scale @ adjacency @ (scale @ vectors))  # Rayleigh quotients
    return np.maximum(values, 0), vectors


def _same_size_chunks(
    graphs: GraphSet, chosen: npt.NDArray[np.bool_], smallest: int
) -> Iterator[tuple[int, npt.NDArray[np.int64]]]:
    counts = graphs.node_counts
    for size in np.unique(counts[chosen & (counts >= smallest)]):
        members = np.flatnonzero(counts == size)
        step = max(1, DENSE_NUMBERS // int(size) ** 2)
        for start in range(0, len(members), step):
            yield int(size), members[start : start + step]


def _laplacians(graphs: GraphSet, chunk: npt.NDArray[np.int64], size: int, normalization: Normalization) -> Tensor:
    """Return the dense Laplacians of equally large graphs, [graphs, size, size]."""
    edge_counts = graphs.edge_counts[chunk]
    source, target = graphs.edge_index[:, ranges(graphs.edge_ptr[chunk], edge_counts)].astype(np.int64)
    cell = (np.repeat(np.arange(len(chunk)), edge_counts) * size + target) * size + source
    adjacency = np.bincount(cell, minlength=len(chunk) * size * size).astype(np.float64).reshape(-1, size, size)
    adjacency = (adjacency + adjacency.transpose(0, 2, 1)) / 2
    degree = adjacency.sum(axis=2)
    if normalization == "none":
        return torch.from_numpy(degree[:, :, None] * np.eye(size) - adjacency)
    scale = 1 / np.sqrt(np.maximum(degree, 1))
    return torch.from_numpy(np.eye(size) - scale[:, :, None] * adjacency * scale[:, None, :])
