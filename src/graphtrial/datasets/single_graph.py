"""What there is to say of a dataset that is a single graph: table 1 and figure 2 of Wiki-CS (arXiv:2007.02901)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from graphtrial.datasets.statistics import link_counts
from graphtrial.graphs import GraphSet

if TYPE_CHECKING:
    from graphtrial.datasets.base import Dataset

MOST_EDGES = 4_000_000


def graph_facts(dataset: Dataset) -> dict[str, float | int]:
    """Return the structure of a dataset of one graph in numbers; nothing for others, or for a graph without edges.

    `mean_degree` counts each link at both of its nodes; `mean_distance` is over ordered pairs that have a path, which
    are a share `connected_pairs` of all, and `longest_distance` the longest of these; where `searched_from` is smaller
    than the number of nodes, these three are estimates from so many nodes. `label_rate` is the share of nodes that the
    first split trains on, `same_class_neighbours` the mean over nodes of the share of neighbours of their own class.
    """
    graphs = dataset.graphs
    if len(graphs) != 1 or not graphs.num_edges:
        return {}
    from graphtrial.graphs.shortest_paths import shortest_path_lengths  # compiled, which takes a moment to import

    found = shortest_path_lengths(graphs)
    facts: dict[str, float | int] = {
        "links": int(link_counts(graphs)[0]),
        "mean_degree": round(2 * float(link_counts(graphs)[0]) / graphs.num_nodes, 4),
        "longest_distance": len(found.pairs),
        "connected_pairs": round(int(found.pairs.sum()) / (found.sources * max(1, graphs.num_nodes - 1)), 4),
        "searched_from": found.sources,
    }
    if found.mean is not None:
        facts["mean_distance"] = round(found.mean, 4)
    if dataset.spec.split_level == "node":
        facts["label_rate"] = round(len(dataset.splits[0].train) / graphs.num_nodes, 4)
    y = graphs.columns.get("y")
    if y is not None and y.level == "node" and y.types is not None:
        shares = same_class_shares(graphs)
        facts["same_class_neighbours"] = round(float(shares.mean()), 4)
        facts["all_neighbours_of_same_class"] = round(float((shares == 1).mean()), 4)
    return facts


def same_class_shares(graphs: GraphSet) -> npt.NDArray[Any]:
    """Return, for each node with neighbours, the share of them in its own class; of very large sets some graphs do."""
    if graphs.num_edges > MOST_EDGES and len(graphs) > 1:
        step = -(-graphs.num_edges // MOST_EDGES)
        graphs = graphs.subset(np.arange(0, len(graphs), step))
    labels = np.asarray(graphs.columns["y"].values).reshape(-1)
    first = np.repeat(np.asarray(graphs.node_ptr[:-1], np.int64), graphs.edge_counts)
    source, target = first + graphs.edge_index[0], first + graphs.edge_index[1]
    same = np.bincount(target, labels[source] == labels[target], minlength=len(labels))
    degree = np.asarray(graphs.in_degree)
    return same[degree > 0] / degree[degree > 0]
