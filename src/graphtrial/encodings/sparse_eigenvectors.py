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
RESTARTS = 200  # maximum of Lanczos restarts before falling back to shift-invert
SHIFT = 1e-3


def sparse_eigenvectors(adjacency: sparse.csr_matrix, k: int) -> Array:
    """Return at most k eigenvectors [nodes, k] of a graph, given by its symmetric adjacency matrix.

    Components are solved one at a time, because Lanczos iterations miss copies of eigenvalues that different components
    share. The eigenvalue 0 has one eigenvector per component with an edge; `component_vectors` constructs a basis of
    this null space.
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
    # Isolated nodes have the eigenvalue 1 each; at most as many as missing columns are needed.
    needed = np.concatenate([np.flatnonzero(volume > 0), np.flatnonzero(volume == 0)[:wanted]])
    values, supports, parts = [], [], []
    for start, end in zip(bounds[needed], bounds[needed + 1], strict=True):
        eigenvalues, vectors = _component(links[start:end, start:end], np.sqrt(degree[nodes[start:end]]), wanted)
        values.append(eigenvalues)
        supports.extend([nodes[start:end]] * len(eigenvalues))
        parts.extend(vectors.T)
    smallest = np.argsort(np.concatenate(values), kind="stable")[:wanted]
    rest = np.zeros((len(degree), len(smallest)))
    for column, which in enumerate(smallest):
        rest[supports[which], column] = parts[which]
    return np.hstack([null_space, rest])


def component_vectors(degree: Array, component: npt.NDArray[np.int32], k: int) -> Array:
    """Return at most k orthonormal eigenvectors of eigenvalue 0 orthogonal to the trivial one, [nodes, vectors].

    Components are ordered by volume, the largest first. Vector j separates component j from all larger ones: it is
    sqrt(degree) times one constant on component j and times another, of opposite sign, on components 0 to j - 1.
    """
    volume = np.bincount(component, weights=degree)
    order = np.argsort(-volume, kind="stable")
    count = min(k, max(int((volume > 0).sum()) - 1, 0))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    component_rank, cumulative = rank[component], np.cumsum(volume[order])
    vectors = np.zeros((len(degree), count))
    for j in range(1, count + 1):
        smaller, larger = volume[order[j]], cumulative[j - 1]
        negative = np.where(component_rank < j, -np.sqrt(smaller / larger), 0.0)
        factor = np.where(component_rank == j, np.sqrt(larger / smaller), negative)
        vectors[:, j - 1] = np.sqrt(degree / (smaller + larger)) * factor
    return vectors


def _component(links: sparse.csr_matrix, root: Array, k: int) -> tuple[Array, Array]:
    """Return the k smallest positive eigenvalues of a component, or all, and their eigenvectors [nodes, k]."""
    nodes = len(root)
    if nodes > max(DENSE_NODES, 4 * k):
        return _iterate(links, root / np.linalg.norm(root), k)
    first = 1 if root.any() else 0  # an isolated node has only the eigenvalue 1
    if nodes == first:
        return np.zeros(0), np.zeros((nodes, 0))
    values, vectors = eigh(np.eye(nodes) - links.toarray())
    return values[first : k + first], vectors[:, first : k + first]


def _iterate(links: sparse.csr_matrix, trivial: Array, k: int) -> tuple[Array, Array]:
    """Run Lanczos with deflation of the converged eigenvectors until no smaller eigenvalue appears.

    One run finds a single eigenvector of a repeated eigenvalue; the deflated runs find the others.
    """
    values, vectors = np.zeros(0), np.zeros((len(trivial), 0))
    while True:
        more, new = _lanczos(links, np.column_stack([trivial, vectors]), k)
        candidates = np.concatenate([values, more])
        order = np.argsort(candidates, kind="stable")[:k]
        done = len(values) > 0 and more.min() >= values[-1] - 1e-8
        if done:
            return values, vectors
        values, vectors = candidates[order], np.hstack([vectors, new])[:, order]


def _lanczos(links: sparse.csr_matrix, deflated: Array, k: int) -> tuple[Array, Array]:
    """Return k of the smallest eigenvalues and their eigenvectors, orthogonal to the deflated vectors."""
    nodes = len(deflated)
    start = np.random.Generator(np.random.PCG64(0)).standard_normal(nodes)

    def project(x: Array) -> Array:
        out: Array = x - deflated @ (deflated.T @ x)
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
    except ArpackNoConvergence:  # clustered eigenvalues, as of long paths: shift-invert mode
        solve = splu((sparse.identity(nodes) * (1 + SHIFT) - links).tocsc()).solve
        values, vectors = largest(lambda x: project(solve(x)), 20 * RESTARTS)
        return 1 / values - SHIFT, vectors
