"""Smallest non-trivial eigenvectors of the normalised Laplacian of a large sparse graph, per component."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse import csgraph
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, splu

Array = npt.NDArray[np.float64]
DENSE_NODES = 500  # smaller components are decomposed as dense matrices
RESTARTS = 200  # of Lanczos' method, before the gaps between eigenvalues count as too small for it
SHIFT = 1e-3


def sparse_eigenvectors(adjacency: sparse.csr_matrix, k: int) -> Array:
    """Return at most k eigenvectors [nodes, k] of a graph, given by its symmetric adjacency matrix.

    The eigenvectors of a graph are those of its components, which are solved one at a time, because no iteration tells
    equal eigenvalues of different components apart. The eigenvalue 0 has one vector per component that has an edge; of
    these spaces `component_vectors` gives the basis.
    """
    degree = np.asarray(adjacency.sum(axis=1)).ravel()
    count, component = csgraph.connected_components(adjacency, directed=False)
    null_space = component_vectors(degree, component, k)
    wanted = min(k, len(degree) - 1) - null_space.shape[1]
    if wanted < 1:
        return null_space
    scale = sparse.diags(1 / np.sqrt(np.maximum(degree, 1)))
    nodes = np.argsort(component, kind="stable")
    links = (scale @ adjacency @ scale).tocsr()[nodes][:, nodes]
    bounds = np.searchsorted(component[nodes], np.arange(count + 1))
    volume = np.bincount(component, weights=degree)
    # Nodes without edges have the eigenvalue 1 each; more of them than there are columns can never be needed.
    needed = np.concatenate([np.flatnonzero(volume > 0), np.flatnonzero(volume == 0)[:wanted]])
    values, places, parts = [], [], []
    for start, end in zip(bounds[needed], bounds[needed + 1], strict=True):
        eigenvalues, vectors = _component(links[start:end, start:end], np.sqrt(degree[nodes[start:end]]), wanted)
        values.append(eigenvalues)
        places.extend([nodes[start:end]] * len(eigenvalues))
        parts.extend(vectors.T)
    smallest = np.argsort(np.concatenate(values), kind="stable")[:wanted]
    rest = np.zeros((len(degree), len(smallest)))
    for column, which in enumerate(smallest):
        rest[places[which], column] = parts[which]
    return np.hstack([null_space, rest])


def component_vectors(degree: Array, component: npt.NDArray[np.int32], k: int) -> Array:
    """Return at most k orthonormal eigenvectors of eigenvalue 0 beside the trivial one, [nodes, vectors].

    Vector j sets component j apart from all larger ones: it is sqrt(degree), times one number on component j, times
    another, of the other sign, on those before it. Components are taken by volume, the largest first.
    """
    volume = np.bincount(component, weights=degree)
    order = np.argsort(-volume, kind="stable")
    count = min(k, max(int((volume > 0).sum()) - 1, 0))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    place, before = rank[component], np.cumsum(volume[order])
    vectors = np.zeros((len(degree), count))
    for j in range(1, count + 1):
        own, larger = volume[order[j]], before[j - 1]
        factor = np.where(place == j, np.sqrt(larger / own), np.where(place < j, -np.sqrt(own / larger), 0.0))
        vectors[:, j - 1] = np.sqrt(degree / (own + larger)) * factor
    return vectors


def _component(links: sparse.csr_matrix, root: Array, k: int) -> tuple[Array, Array]:
    """Return the k smallest eigenvalues of a component above 0, or all, and their vectors [nodes, k]."""
    nodes = len(root)
    if nodes > max(DENSE_NODES, 4 * k):
        return _iterate(links, root / np.linalg.norm(root), k)
    first = 1 if root.any() else 0  # a node without edges has the eigenvalue 1 alone
    if nodes == first:
        return np.zeros(0), np.zeros((nodes, 0))
    values, vectors = eigh(np.eye(nodes) - links.toarray())
    return values[first : k + first], vectors[:, first : k + first]


def _iterate(links: sparse.csr_matrix, trivial: Array, k: int) -> tuple[Array, Array]:
    """Find eigenvectors by Lanczos' method, again and again beside those found, until no smaller eigenvalue turns up.

    One run sees a single vector of a repeated eigenvalue; the others show in the next run.
    """
    values, vectors = np.zeros(0), np.zeros((len(trivial), 0))
    while True:
        more, new = _lanczos(links, np.column_stack([trivial, vectors]), k)
        together = np.concatenate([values, more])
        kept = np.argsort(together, kind="stable")[:k]
        done = len(values) > 0 and more.min() >= values[-1] - 1e-8
        if done:
            return values, vectors
        values, vectors = together[kept], np.hstack([vectors, new])[:, kept]


def _lanczos(links: sparse.csr_matrix, null_space: Array, k: int) -> tuple[Array, Array]:
    """Return k of the smallest eigenvalues and their vectors, orthogonal to the known ones."""
    nodes = len(null_space)
    start = np.random.Generator(np.random.PCG64(0)).standard_normal(nodes)

    def project(x: Array) -> Array:
        out: Array = x - null_space @ (null_space.T @ x)
        return out

    def largest(multiply: Callable[[Array], Array], restarts: int) -> tuple[Array, Array]:
        operator = LinearOperator(links.shape, matvec=lambda x: multiply(project(np.ravel(x))), dtype=np.float64)
        size = min(nodes - 1, max(3 * k, 60))
        values, vectors = eigsh(operator, k, which="LA", v0=project(start), ncv=size, maxiter=restarts, tol=1e-9)
        order = np.argsort(-values, kind="stable")
        return values[order], vectors[:, order]

    try:
        values, vectors = largest(lambda x: project(x + links @ x), RESTARTS)
        return 2 - values, vectors
    except ArpackNoConvergence:  # long paths and the like, whose eigenvalues lie close together: take the inverse
        solve = splu((sparse.identity(nodes) * (1 + SHIFT) - links).tocsc()).solve
        values, vectors = largest(lambda x: project(solve(x)), 20 * RESTARTS)
        return 1 / values - SHIFT, vectors
