"""`NodeLoader` and `PairLoader`: target nodes and candidate pairs of a single graph."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from graphtrial.core.errors import InvalidGraphError
from graphtrial.graphs import Column, GraphBatch, GraphSet
from graphtrial.graphs.transductive import NodeLoader, PairLoader

PAIRS = np.array([[0, 1], [1, 2], [2, 0], [3, 1], [0, 3]])


def graph(**columns: Column) -> GraphSet:
    return GraphSet.build([4], [3], [[0, 1, 2], [1, 2, 0]], {"x": Column(np.arange(4), "node", types=4), **columns})


def linked() -> GraphSet:
    return graph(pairs=Column(PAIRS, "pair"), y=Column(np.array([1, 1, 1, 0, 0]), "pair"))


def whole(graphs: GraphSet) -> GraphBatch:
    return GraphBatch.from_set(graphs, [0])


def test_targets_are_selected_in_the_order_of_target_index() -> None:
    (batch,) = NodeLoader(whole(graph()), np.array([3, 0]))
    assert batch.num_nodes == 4
    assert batch.select_targets(torch.tensor([10, 11, 12, 13])).tolist() == [13, 10]
    assert whole(graph()).select_targets(torch.tensor([1, 2, 3, 4])).tolist() == [1, 2, 3, 4]


def test_evaluation_pairs_are_loaded_once_in_order() -> None:
    graphs = linked()
    batches = list(PairLoader(whole(graphs), graphs, np.array([4, 0, 2]), 2))
    assert [batch.pairs.tolist() for batch in batches] == [[[0, 3], [0, 1]], [[2, 0]]]
    assert [batch.y.tolist() for batch in batches] == [[0, 1], [1]]


def test_training_samples_one_negative_per_pair_from_the_generator_alone() -> None:
    graphs = linked()

    def one_epoch(seed: int) -> list[tuple[list, list]]:
        loader = PairLoader(whole(graphs), graphs, np.array([0, 1, 2]), 2, torch.Generator().manual_seed(seed))
        return [(batch.pairs.tolist(), batch.y.tolist()) for batch in loader]

    assert one_epoch(1) == one_epoch(1)
    assert one_epoch(1) != one_epoch(2)
    first, last = one_epoch(1)
    assert (first[1], last[1]) == ([1, 1, 0, 0], [1, 0])
    assert sorted(first[0][:2] + last[0][:1]) == sorted(PAIRS[:3].tolist())


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"y": Column(np.zeros(5), "pair")}, "there is no column 'pairs'"),
        ({"pairs": Column(PAIRS + 1, "pair")}, "has a node index outside 0 to 3"),
        ({"pairs": Column(PAIRS[:, 0], "pair")}, r"must have shape \[pairs, 2\]"),
        ({"pairs": Column(PAIRS, "pair"), "y": Column(np.zeros(4), "pair")}, "the set has 5 pairs"),
    ],
)
def test_invalid_pairs_raise(columns: dict[str, Column], message: str) -> None:
    with pytest.raises(InvalidGraphError, match=message):
        graph(**columns)


def test_pairs_require_a_single_graph() -> None:
    with pytest.raises(InvalidGraphError, match="a set with a single graph"):
        GraphSet.build([1, 1], [0, 0], np.zeros((2, 0)), {"pairs": Column(np.zeros((1, 2), int), "pair")})
    with pytest.raises(InvalidGraphError, match="cannot be left out or repeated"):
        linked().subset([0, 0])
    assert linked().subset([0]).content_hash == linked().content_hash


def test_pairs_round_trip_through_storage(tmp_path) -> None:
    linked().save(tmp_path / "set")
    assert GraphSet.open(tmp_path / "set").content_hash == linked().content_hash


def test_pair_loader_needs_the_columns_pairs_and_y() -> None:
    with pytest.raises(InvalidGraphError, match="columns 'pairs' and 'y'"):
        PairLoader(whole(graph()), graph(), np.array([0]), 2)


def test_training_samples_from_the_given_negatives() -> None:
    graphs = linked()
    loader = PairLoader(
        whole(graphs), graphs, np.array([0, 1, 2]), 2, torch.Generator().manual_seed(0), np.array([3, 4])
    )
    drawn = [pair for _ in range(20) for batch in loader for pair in batch.pairs[len(batch.pairs) // 2 :].tolist()]
    assert {tuple(pair) for pair in drawn} == {(3, 1), (0, 3)}
