"""Statistics of single-graph datasets: degree, distances, homophily (table 1 and figure 2 of arXiv:2007.02901)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from graphtrial.datasets.statistics import link_counts
from graphtrial.graphs import GraphSet

if TYPE_CHECKING:
    from graphtrial.datasets.dataset import Dataset

MOST_EDGES = 4_000_000


def graph_statistics(dataset: Dataset) -> dict[str, float | int]:
    """Return graph statistics of a single-graph dataset; empty for others, or for a graph without edges.

    `mean_degree` counts each undirected edge at both nodes; `mean_distance` averages over connected ordered pairs, a
    fraction `connected_pairs` of all, and `longest_distance` is their maximum (diameter); where `searched_from` is
    smaller than the number of nodes, these three are estimated from that many sources. `label_rate` is the fraction of
    training nodes in the first split, `same_class_neighbours` the node homophily.
    """
    graphs = dataset.graphs
    if len(graphs) != 1 or not graphs.num_edges:
        return {}
    from graphtrial.graphs.shortest_paths import shortest_path_lengths  # numba is slow to import

    distances = shortest_path_lengths(graphs)
    facts: dict[str, float | int] = {
        "links": int(link_counts(graphs)[0]),
        "mean_degree": round(2 * float(link_counts(graphs)[0]) / graphs.num_nodes, 4),
        "longest_distance": len(distances.pairs),
        "connected_pairs": round(int(distances.pairs.sum()) / (distances.sources * max(1, graphs.num_nodes - 1)), 4),
        "searched_from": distances.sources,
    }
    if distances.mean is not None:
        facts["mean_distance"] = round(distances.mean, 4)
    if dataset.spec.split_level == "node":
        facts["label_rate"] = round(len(dataset.splits[0].train) / graphs.num_nodes, 4)
    y = graphs.columns.get("y")
    if y is not None and y.level == "node" and y.types is not None:
        homophily = node_homophily(graphs)
        facts["same_class_neighbours"] = round(float(homophily.mean()), 4)
        facts["all_neighbours_of_same_class"] = round(float((homophily == 1).mean()), 4)
    return facts


def node_homophily(graphs: GraphSet) -> npt.NDArray[Any]:
    """Return the homophily of each node with neighbours: the fraction in its own class; large sets are subsampled."""
    if graphs.num_edges > MOST_EDGES and len(graphs) > 1:
        step = -(-graphs.num_edges // MOST_EDGES)
        graphs = graphs.subset(np.arange(0, len(graphs), step))
    labels = np.asarray(graphs.columns["y"].values).reshape(-1)
    first = np.repeat(np.asarray(graphs.node_ptr[:-1], np.int64), graphs.edge_counts)
    source, target = first + graphs.edge_index[0], first + graphs.edge_index[1]
    same = np.bincount(target, labels[source] == labels[target], minlength=len(labels))
    degree = np.asarray(graphs.in_degree)
    fractions: npt.NDArray[Any] = same[degree > 0] / degree[degree > 0]
    return fractions
