"""Candidates of links that are ranked: all nodes of their graph, or the negatives of another link."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from graphtrial.graphs.batch import GraphBatch
from graphtrial.graphs.column import PAIRS, QUERY, Column
from graphtrial.graphs.graphset import GraphSet

Ids = npt.NDArray[np.int64]
Candidates = Literal["all", "filtered", "filtered-no-self"]
"""Targets that a link is ranked among within its graph: all nodes, all but those of other links of the same source, or
all but those and the source itself."""
GRAPH = "query_graph"
"""Column of batches with the graph of each pair, numbered as in the set."""


def with_candidates(batch: GraphBatch, ids: Ids, candidates: Candidates) -> GraphBatch:
    """Replace the labelled pairs of a batch by its links, each with all nodes of its graph as candidate targets.

    ids [graphs]: number of each graph in the set. A link (i, j) is the query of the pairs (i, k) for the candidates k
    of the graph, of which j alone has label 1. Queries are numbered within their graph.
    """
    if batch.y is None or PAIRS not in batch.columns:
        return batch
    links = batch.columns[PAIRS][batch.y == 1]
    graph = batch.batch[links[:, 0]]
    counts = (batch.ptr[1:] - batch.ptr[:-1])[graph]
    link = torch.repeat_interleave(torch.arange(len(links), device=links.device), counts)
    first = counts.cumsum(0) - counts
    source = links[link, 0]
    target = torch.arange(len(link), device=links.device) - first[link] + batch.ptr[graph[link]]
    linked = target == links[link, 1]
    chosen = linked | ~_left_out(source, target, links, batch.num_nodes, candidates)
    of_link = graph.new_tensor(np.asarray(ids, np.int64))[graph]
    columns = {
        PAIRS: torch.stack([source, target], dim=1)[chosen],
        "y": linked[chosen].long(),
        QUERY: (link - torch.searchsorted(graph, graph)[link])[chosen],
        GRAPH: of_link[link][chosen],
    }
    return batch.with_columns({**batch.columns, **columns})


def _left_out(source: Tensor, target: Tensor, links: Tensor, nodes: int, candidates: Candidates) -> Tensor:
    if candidates == "all":
        return torch.zeros_like(source, dtype=torch.bool)
    others = torch.isin(source * nodes + target, links[:, 0] * nodes + links[:, 1])
    return others | (source == target) if candidates == "filtered-no-self" else others


def training_queries(graphs: GraphSet, train_ids: Ids, val_ids: Ids) -> GraphSet:
    """Return the graph with queries of training links: each has the negative targets of a validation query.

    There are as many as there are queries in the validation set, evenly spaced among the training links. The example
    of the Open Graph Benchmark for ogbl-citation2 does so with links drawn at random.
    """
    pairs, y, query = (np.asarray(graphs.column(name).values) for name in (PAIRS, "y", QUERY))
    links, negatives = (train_ids[y[train_ids] == 1], val_ids[y[val_ids] == 0])
    distinct, first = np.unique(query[negatives], return_inverse=True)
    count = min(max(len(distinct), 1), len(links))
    chosen = links[np.linspace(0, len(links) - 1, count).astype(np.int64)]
    negatives, of_query = negatives[first < count], first[first < count]
    candidates = np.stack([pairs[chosen][of_query, 0], pairs[negatives, 1]], axis=1)
    columns = {
        PAIRS: Column(np.concatenate([pairs[chosen], candidates]), "pair"),
        "y": Column(np.repeat([1, 0], [count, len(negatives)]), "pair"),
        QUERY: Column(np.concatenate([np.arange(count), of_query]), "pair"),
    }
    return GraphSet(graphs.structure, columns)
