"""Candidates of links within many graphs, against the released metric of LRGB written as loops."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from graphtrial.graphs import Column, GraphBatch, GraphSet
from graphtrial.graphs.links.candidates import training_queries, with_candidates
from graphtrial.tasks import LinkRanking

Score = Callable[[int, int], float]


def graphs_with_pairs(sizes: tuple[int, ...] = (4, 5, 3, 6), seed: int = 0) -> GraphSet:
    """Paths with random labelled pairs; the third graph has no link."""
    rng = np.random.default_rng(seed)
    edges = np.concatenate([np.stack([np.arange(n - 1), np.arange(1, n)]) for n in sizes], axis=1)
    pairs, labels, counts = [], [], []
    for graph, nodes in enumerate(sizes):
        every = rng.permutation(np.argwhere(np.ones((nodes, nodes))))[: 2 * nodes]
        pairs.append(every)
        labels.append(np.zeros(len(every), int) if graph == 2 else (np.arange(len(every)) % 3 == 0).astype(int))
        counts.append(len(every))
    columns = {
        "x": Column(rng.normal(size=(sum(sizes), 3)).astype(np.float32), "node"),
        "pairs": Column(np.concatenate(pairs), "pair"),
        "y": Column(np.concatenate(labels), "pair", types=2),
        "pair_count": Column(np.array(counts), "graph"),
    }
    return GraphSet.build(sizes, [n - 1 for n in sizes], edges, columns)


def released(graphs: GraphSet, ids: list[int], candidates: str) -> float:
    """MRR as LRGB's head `inductive_edge` computes it: graph by graph, over all scores of a source."""
    means = []
    for graph in ids:
        x = torch.from_numpy(graphs[graph].column("x").values)
        scores, one = x @ x.roll(1, 0).T, graphs[graph]
        links = [tuple(pair) for pair, y in zip(one.column("pairs").values, one.column("y").values, strict=True) if y]
        ranks = []
        for source, target in links:
            others = [k for k in range(len(x)) if k != target]
            if candidates != "all":
                others = [k for k in others if (source, k) not in links]
            if candidates == "filtered-no-self":
                others = [k for k in others if k != source]
            ranks.append(1 + sum(bool(scores[source, k] > scores[source, target]) for k in others))
        if ranks:
            means.append(sum(1 / rank for rank in ranks) / len(ranks))
    return sum(means) / len(means)


def scores_of(batch: GraphBatch) -> torch.Tensor:
    """The same scores as in `released`, in any batch."""
    x = batch.x
    assert x is not None
    rolled = torch.cat([x[a:b].roll(1, 0) for a, b in zip(batch.ptr[:-1], batch.ptr[1:], strict=True)])
    return (x[batch.pairs[:, 0]] * rolled[batch.pairs[:, 1]]).sum(dim=1, keepdim=True)


@pytest.mark.parametrize("candidates", ["all", "filtered", "filtered-no-self"])
@pytest.mark.parametrize("batches", [[[0, 1, 2, 3]], [[3], [1, 0], [2]], [[2], [0], [1], [3]]])
def test_score_is_the_released_one_and_does_not_depend_on_batches(candidates: str, batches: list[list[int]]) -> None:
    for seed in range(5):
        graphs, task = graphs_with_pairs(seed=seed), LinkRanking(candidates=candidates)
        parts = [task.evaluation_batch(GraphBatch.from_set(graphs, ids), np.array(ids)) for ids in batches]
        logits = torch.cat([scores_of(batch) for batch in parts])
        target = torch.cat([task.target(batch) for batch in parts])
        assert task.score(logits, target) == pytest.approx(released(graphs, [0, 1, 2, 3], candidates))


def test_candidates_are_the_nodes_of_the_graph() -> None:
    columns = {
        "pairs": Column(np.array([[0, 2], [0, 1], [1, 0], [0, 1]]), "pair"),
        "y": Column(np.array([1, 1, 0, 1]), "pair"),
        "pair_count": Column(np.array([3, 1]), "graph"),
    }
    batch = GraphBatch.from_set(GraphSet.build([3, 2], [0, 0], np.zeros((2, 0)), columns), [1, 0])
    assert batch.pairs.tolist() == [[0, 1], [2, 4], [2, 3], [3, 2]]
    everything = with_candidates(batch, np.array([1, 0]), "all")
    assert everything.pairs.tolist() == [[0, 0], [0, 1], [2, 2], [2, 3], [2, 4], [2, 2], [2, 3], [2, 4]]
    assert everything.y is not None
    assert everything.y.tolist() == [0, 1, 0, 0, 1, 0, 1, 0]
    assert everything.query.tolist() == [0, 0, 0, 0, 0, 1, 1, 1]
    assert everything.query_graph.tolist() == [1, 1, 0, 0, 0, 0, 0, 0]
    filtered = with_candidates(batch, np.array([1, 0]), "filtered")
    assert filtered.pairs.tolist() == [[0, 0], [0, 1], [2, 2], [2, 4], [2, 2], [2, 3]]
    assert with_candidates(batch, np.array([1, 0]), "filtered-no-self").pairs.tolist() == [[0, 1], [2, 4], [2, 3]]


def test_training_links_get_the_negative_targets_of_validation_queries() -> None:
    pairs = np.array([[0, 1], [1, 2], [2, 3], [3, 0], [5, 1], [5, 2], [5, 3], [4, 1], [4, 2], [4, 0]])
    y = np.array([1, 1, 1, 1, 1, 0, 0, 1, 0, 0])
    query = np.array([0, 0, 0, 0, 8, 8, 8, 9, 9, 9])
    columns = {"pairs": Column(pairs, "pair"), "y": Column(y, "pair"), "query": Column(query, "pair")}
    graph = GraphSet.build([6], [0], np.zeros((2, 0)), columns)
    queries = training_queries(graph, np.arange(4), np.arange(4, 10))
    assert queries.column("pairs").values.tolist() == [[0, 1], [3, 0], [0, 2], [0, 3], [3, 2], [3, 0]]
    assert queries.column("y").values.tolist() == [1, 1, 0, 0, 0, 0]
    assert queries.column("query").values.tolist() == [0, 1, 0, 0, 1, 1]
    assert training_queries(graph, np.arange(4), np.array([4])).column("pairs").values.tolist() == [[0, 1]]
