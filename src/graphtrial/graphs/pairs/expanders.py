"""Random regular expander graphs on the nodes of a graph."""

from __future__ import annotations

import hashlib
import math
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from graphtrial.graphs.batch import GraphBatch

Array = npt.NDArray[Any]
FEW_NODES = 10
ATTEMPTS = 100
DENSE_NODES = 600  # the eigenvalue of larger graphs is computed by an iteration
REMEMBERED = 1 << 17


def expander_edges(
    graph: GraphBatch, degree: int, seed: int, *, self_loops: bool = False, hamiltonian: bool = False
) -> Tensor:
    """Return the edges of a random expander graph on the nodes of each graph, [2, edges]; cached.

    Drawn as in Exphormer (arXiv:2303.06147): `degree` random permutations, each used in both directions, so that nodes
    have 2 `degree` neighbours; drawn up to 100 times until the second smallest eigenvalue of the Laplacian reaches
    2d - 2 sqrt(2d - 1) - 0.1 with d = `degree`, else the best draw. Graphs of at most 10 nodes get all pairs. The draw
    depends on the seed and the structure of the graph, not on its batch. The paper removes self-loops, the released
    code keeps them: `self_loops`. With `hamiltonian`, each permutation is the order of a Hamiltonian cycle.
    """
    name = f"expander {degree} {seed} {self_loops} {hamiltonian}"
    return graph.cached(name, lambda: _of_batch(graph, degree, seed, self_loops, hamiltonian))


def _of_batch(graph: GraphBatch, degree: int, seed: int, self_loops: bool, hamiltonian: bool) -> Tensor:
    ptr, edges = graph.ptr.tolist(), graph.edge_index.cpu().numpy()
    bounds = graph.in_ptr[graph.ptr].tolist()
    parts = [np.zeros((2, 0), np.int64)]
    for start, end, first, last in zip(ptr[:-1], ptr[1:], bounds[:-1], bounds[1:], strict=True):
        own = np.ascontiguousarray(edges[:, first:last] - start, dtype="<i8")
        key = hashlib.sha256(f"{seed} {end - start} ".encode() + own.tobytes()).digest()
        parts.append(_expander(end - start, degree, key, self_loops, hamiltonian).astype(np.int64) + start)
    return torch.from_numpy(np.concatenate(parts, axis=1)).to(graph.edge_index.device)


@lru_cache(maxsize=REMEMBERED)
def _expander(nodes: int, degree: int, key: bytes, self_loops: bool, hamiltonian: bool) -> Array:
    """Return the edges [2, edges] of an expander; cached, because a graph is in another batch each epoch."""
    rng = np.random.Generator(np.random.PCG64(int.from_bytes(key, "little")))
    edges = random_expander(nodes, degree, rng, hamiltonian=hamiltonian)
    if not self_loops:
        edges = edges[:, edges[0] != edges[1]]
    return edges.astype(np.min_scalar_type(max(nodes, 1)))


def forget() -> None:
    """Clear the cache of expanders."""
    _expander.cache_clear()


def random_expander(nodes: int, degree: int, rng: np.random.Generator, *, hamiltonian: bool = False) -> Array:
    """Return the edges [2, edges] of a random expander graph, self-loops included where permutations have them."""
    if nodes <= FEW_NODES:
        source, target = np.nonzero(~np.eye(nodes, dtype=bool))
        return np.stack([source, target])
    degree = min(degree, nodes - 1)
    enough = max(0.0, 2 * degree - 2 * math.sqrt(2 * degree - 1) - 0.1)
    best, largest = np.zeros((2, 0), np.int64), -math.inf
    for _ in range(ATTEMPTS):
        orders = np.stack([rng.permutation(nodes) for _ in range(degree)])
        source = orders.ravel() if hamiltonian else np.tile(np.arange(nodes), degree)
        target = np.roll(orders, -1, axis=1).ravel() if hamiltonian else orders.ravel()
        edges = np.stack([np.concatenate([source, target]), np.concatenate([target, source])])
        eigenvalue = algebraic_connectivity(edges, nodes)
        if eigenvalue > largest:
            best, largest = edges, eigenvalue
        if largest >= enough:
            break
    return best


def algebraic_connectivity(edges: Array, nodes: int) -> float:
    """Return the second smallest eigenvalue of the Laplacian D - A of an undirected multigraph, at least 2 nodes."""
    if nodes <= DENSE_NODES:  # self-loops are on the diagonal of D and of A
        links = np.bincount(edges[0] * nodes + edges[1], minlength=nodes * nodes).reshape(nodes, nodes).astype(float)
        return float(np.linalg.eigvalsh(np.diag(links.sum(axis=1)) - links)[1])
    from scipy import sparse  # slow to import, and only large graphs need it
    from scipy.sparse.linalg import eigsh

    links = sparse.csr_matrix((np.ones(edges.shape[1]), (edges[0], edges[1])), (nodes, nodes))
    degree = np.asarray(links.sum(axis=1)).ravel()
    most, start = 2 * degree.max(), np.random.Generator(np.random.PCG64(0)).standard_normal(nodes)
    shifted = links + sparse.diags(most - degree)  # its largest eigenvalues are the smallest of the Laplacian
    return float(most - eigsh(shifted, 2, which="LA", v0=start, return_eigenvectors=False).min())
