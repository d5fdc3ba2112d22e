"""Deep Graph Mapper: Mapper graph of a node embedding, as in figures 3 and 4 of Wiki-CS (arXiv:2007.02901)."""

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
    """Parameters of the Mapper algorithm.

    A lens maps each node to the plane, covered by `intervals` x `intervals` cells that overlap by the fraction
    `overlap`. The connected components of the subgraph in each cell are clusters. The weight of an edge between
    clusters is the number of edges between their nodes; edges below the fraction `weakest` of the maximum are
    dropped, and then components with fewer than `fewest` nodes.
    """

    intervals: int = 20
    overlap: float = 0.2
    weakest: float = 0.05
    fewest: int = 8

    def __post_init__(self) -> None:
        if self.intervals < 1 or not 0 <= self.overlap < 1 or not 0 <= self.weakest < 1 or self.fewest < 0:
            raise GraphTrialError("intervals must be at least 1, overlap and weakest in [0, 1), fewest at least 0")


@dataclass(frozen=True)
class MapperGraph:
    """Mapper graph: clusters of nodes and weighted edges between them.

    `members` are the nodes of each cluster, which may overlap; `links` [2, links] are the edges with weights `strength`
    in [0, 1]; `places` [clusters, 2] are the mean lens values.
    """

    members: list[Array]
    links: Array
    strength: Array
    places: Array

    def majority(self, classes: Array) -> tuple[Array, Array]:
        """Return the majority class of each cluster (lowest on ties), and its fraction."""
        counts = [np.bincount(classes[nodes]) for nodes in self.members]
        return np.array([c.argmax() for c in counts]), np.array([c.max() / c.sum() for c in counts])


def lens_of(dataset: Dataset, *, width: int = 128, seed: int = 0) -> Array:
    """Return the lens [nodes, 2]: t-SNE of Deep Graph Infomax embeddings."""
    from graphtrial.nn.deep_graph_infomax import infomax_embeddings
    from graphtrial.nn.shapes import Shapes

    manifold = _library("sklearn.manifold", "scikit-learn")
    graphs = dataset.graphs
    batch = GraphBatch.from_set(graphs, np.arange(1))
    vectors = infomax_embeddings(batch, Shapes.of(graphs, dataset.task), width=width, seed=seed).numpy()
    perplexity = min(30.0, (len(vectors) - 1) / 3)
    tsne = manifold.TSNE(n_components=2, init="pca", perplexity=perplexity, random_state=seed)
    lens: Array = tsne.fit_transform(vectors)
    return lens


def mapper_graph(graphs: GraphSet, lens: Array, rules: MapperRules) -> MapperGraph:
    """Compute the Mapper graph for a lens [nodes, 2]."""
    kmapper = _library("kmapper", "kepler-mapper")
    nodes = graphs.num_nodes
    source, target = graphs.edge_index[:, graphs.edge_index[0] != graphs.edge_index[1]].astype(np.int64)
    joined = sparse.csr_matrix((np.ones(len(source)), (source, target)), shape=(nodes, nodes))
    joined = ((joined + joined.T) > 0).astype(np.float64)
    cover = kmapper.Cover(n_cubes=rules.intervals, perc_overlap=rules.overlap)
    mapped = kmapper.KeplerMapper(verbose=0).map(
        _unit(lens), np.arange(nodes).reshape(-1, 1), cover=cover, clusterer=_components(joined)
    )
    members = [np.array(sorted(cluster)) for _, cluster in sorted(mapped["nodes"].items())]
    rows = np.repeat(np.arange(len(members)), [len(cluster) for cluster in members])
    belongs = sparse.csr_matrix((np.ones(len(rows)), (rows, np.concatenate(members))), shape=(len(members), nodes))
    between = sparse.triu(belongs @ joined @ belongs.T, k=1).tocoo()
    strength = between.data / max(between.data.max(initial=0), 1)
    strong = strength >= rules.weakest
    return _without_small_parts(
        MapperGraph(
            members,
            np.stack([between.row[strong], between.col[strong]]).astype(np.int64),
            strength[strong],
            np.stack([lens[cluster].mean(axis=0) for cluster in members]),
        ),
        rules.fewest,
    )


def _without_small_parts(whole: MapperGraph, fewest: int) -> MapperGraph:
    """Drop connected components with fewer than `fewest` nodes."""
    clusters = len(whole.members)
    links = sparse.csr_matrix((whole.strength, tuple(whole.links)), shape=(clusters, clusters))
    _, part = connected_components(links, directed=False)
    size = np.bincount(part, [len(cluster) for cluster in whole.members])
    stays = size[part] >= fewest
    if not stays.any():
        raise GraphTrialError(f"no part of the picture has {fewest} nodes; give a smaller number or fewer intervals")
    number = np.cumsum(stays) - 1
    strong = stays[whole.links[0]]
    return MapperGraph(
        [cluster for cluster, stay in zip(whole.members, stays, strict=True) if stay],
        number[whole.links[:, strong]],
        whole.strength[strong],
        whole.places[stays],
    )


def _components(joined: sparse.csr_matrix) -> Any:
    """Return a scikit-learn clusterer whose clusters are connected components."""
    base: Any = _library("sklearn.base", "scikit-learn")

    class Components(base.ClusterMixin, base.BaseEstimator):  # type: ignore[misc]  # scikit-learn has no type hints
        """Connected components of the subgraph induced by the nodes in the single column of X."""

        def fit(self, X: Array, y: None = None) -> Components:
            nodes = X[:, 0].astype(np.int64)
            self.labels_ = connected_components(joined[nodes][:, nodes], directed=False)[1]
            return self

    return Components()


def _unit(lens: Array) -> Array:
    """Min-max scale each axis to [0, 1]."""
    low, high = lens.min(axis=0), lens.max(axis=0)
    scaled: Array = (lens - low) / np.maximum(high - low, 1e-12)
    return scaled


def _library(name: str, package: str) -> Any:
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError:
        raise missing_extra("a mapper picture", package, "mapper") from None
