"""A large graph as a small one: the structural Deep Graph Mapper, figures 3 and 4 of Wiki-CS (arXiv:2007.02901)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from graphtrial.core.errors import GraphTrialError, missing_extra
from graphtrial.datasets import Dataset
from graphtrial.graphs import GraphBatch, GraphSet

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class MapperRules:
    """How a graph is made small.

    A lens gives each node a place in the plane, which `intervals` x `intervals` cells cover, overlapping by a share
    `overlap`. Of the nodes in a cell those that hang together within it are a cluster. Clusters are linked as often as
    their nodes are; links weaker than a share `weakest` of the strongest are left out, and then parts of the picture
    with fewer than `fewest` nodes.
    """

    intervals: int = 20
    overlap: float = 0.2
    weakest: float = 0.05
    fewest: int = 8

    def __post_init__(self) -> None:
        if self.intervals < 1 or not 0 <= self.overlap < 1 or not 0 <= self.weakest < 1 or self.fewest < 0:
            raise GraphTrialError("intervals must be 1 or more, shares at least 0 and below 1, and fewest at least 0")


@dataclass(frozen=True)
class Mapped:
    """Clusters of nodes and how strongly they are linked.

    `members` lists the nodes of each cluster, some of which are in several; `links` [2, links] joins clusters with a
    `strength` from 0 to 1; `places` [clusters, 2] is where the nodes of a cluster lie on average.
    """

    members: list[Array]
    links: Array
    strength: Array
    places: Array

    def majority(self, classes: Array) -> tuple[Array, Array]:
        """Return the most frequent class of each cluster, the lowest of equals, and its share."""
        counts = [np.bincount(classes[nodes]) for nodes in self.members]
        return np.array([c.argmax() for c in counts]), np.array([c.max() / c.sum() for c in counts])


def lens_of(dataset: Dataset, *, width: int = 128, seed: int = 0) -> Array:
    """Return a place in the plane for each node, [nodes, 2]: t-SNE of vectors learnt without labels."""
    from graphtrial.nn.infomax import infomax_vectors
    from graphtrial.nn.shapes import Shapes

    manifold = _library("sklearn.manifold", "scikit-learn")
    graphs = dataset.graphs
    batch = GraphBatch.from_set(graphs, np.arange(1))
    vectors = infomax_vectors(batch, Shapes.of(graphs, dataset.task), width=width, seed=seed).numpy()
    perplexity = min(30.0, (len(vectors) - 1) / 3)
    return manifold.TSNE(n_components=2, init="pca", perplexity=perplexity, random_state=seed).fit_transform(vectors)


def mapped(graphs: GraphSet, lens: Array, rules: MapperRules) -> Mapped:
    """Make a graph small, seen through a lens [nodes, 2]."""
    kmapper = _library("kmapper", "kepler-mapper")
    nodes = graphs.num_nodes
    source, target = graphs.edge_index[:, graphs.edge_index[0] != graphs.edge_index[1]].astype(np.int64)
    joined = sparse.csr_matrix((np.ones(len(source)), (source, target)), shape=(nodes, nodes))
    joined = ((joined + joined.T) > 0).astype(np.float64)
    cover = kmapper.Cover(n_cubes=rules.intervals, perc_overlap=rules.overlap)
    made = kmapper.KeplerMapper(verbose=0).map(
        _unit(lens), np.arange(nodes).reshape(-1, 1), cover=cover, clusterer=_components(joined)
    )
    members = [np.array(sorted(found)) for _, found in sorted(made["nodes"].items())]
    rows = np.repeat(np.arange(len(members)), [len(found) for found in members])
    belongs = sparse.csr_matrix((np.ones(len(rows)), (rows, np.concatenate(members))), shape=(len(members), nodes))
    between = sparse.triu(belongs @ joined @ belongs.T, k=1).tocoo()
    strength = between.data / max(between.data.max(initial=0), 1)
    kept = strength >= rules.weakest
    return _without_small_parts(
        Mapped(
            members,
            np.stack([between.row[kept], between.col[kept]]).astype(np.int64),
            strength[kept],
            np.stack([lens[found].mean(axis=0) for found in members]),
        ),
        rules.fewest,
    )


def _without_small_parts(whole: Mapped, fewest: int) -> Mapped:
    """Leave out what hangs together and has fewer nodes than that."""
    clusters = len(whole.members)
    links = sparse.csr_matrix((whole.strength, tuple(whole.links)), shape=(clusters, clusters))
    _, part = connected_components(links, directed=False)
    size = np.bincount(part, [len(found) for found in whole.members])
    stays = size[part] >= fewest
    if not stays.any():
        raise GraphTrialError(f"no part of the picture has {fewest} nodes; give a smaller number or fewer intervals")
    number = np.cumsum(stays) - 1
    kept = stays[whole.links[0]]
    return Mapped(
        [found for found, stay in zip(whole.members, stays, strict=True) if stay],
        number[whole.links[:, kept]],
        whole.strength[kept],
        whole.places[stays],
    )


def _components(joined: sparse.csr_matrix) -> Any:
    """Return a clusterer for which examples are nodes, and clusters what hangs together."""
    base: Any = _library("sklearn.base", "scikit-learn")

    class Components(base.ClusterMixin, base.BaseEstimator):
        """Finds the parts of the graph that some nodes induce; the one column of X names the nodes."""

        def fit(self, X: Array, y: None = None) -> Components:
            nodes = X[:, 0].astype(np.int64)
            self.labels_ = connected_components(joined[nodes][:, nodes], directed=False)[1]
            return self

    return Components()


def _unit(lens: Array) -> Array:
    """Return places from 0 to 1 along each axis."""
    low, high = lens.min(axis=0), lens.max(axis=0)
    return (lens - low) / np.maximum(high - low, 1e-12)


def _library(name: str, package: str) -> Any:
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError:
        raise missing_extra("a mapper picture", package, "mapper") from None
