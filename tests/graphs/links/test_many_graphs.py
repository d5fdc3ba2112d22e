"""Labelled pairs within many graphs: subsets, batches, conversion, storage, and sets that are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.graphs.links.test_candidates import graphs_with_pairs

from graphtrial.core.errors import InvalidGraphError
from graphtrial.graphs import Column, GraphBatch, GraphSet, from_pyg, to_pyg


def test_pairs_follow_their_graph() -> None:
    graphs = graphs_with_pairs()
    assert graphs.pair_ptr.tolist() == [0, 8, 18, 24, 36]
    chosen = graphs[[3, 0]]
    rows = [*range(24, 36), *range(8)]
    assert chosen.column("pairs").values.tolist() == graphs.column("pairs").values[rows].tolist()
    assert chosen.column("pair_count").values.tolist() == [12, 8]
    batch = GraphBatch.from_set(graphs, [3, 0])
    assert batch.pairs.tolist() == (graphs.column("pairs").values[rows] + np.repeat([0, 6], [12, 8])[:, None]).tolist()
    assert batch.y is not None
    assert batch.y.tolist() == chosen.column("y").values.tolist()


def test_round_trips(tmp_path: Path) -> None:
    pytest.importorskip("torch_geometric")
    graphs = graphs_with_pairs()
    graphs.save(tmp_path / "set")
    assert GraphSet.open(tmp_path / "set").content_hash == graphs.content_hash
    items = to_pyg(graphs)
    assert items[1].edge_label_index.tolist() == graphs[1].column("pairs").values.T.tolist()
    again = from_pyg(items)
    for name in ("pairs", "y", "pair_count", "x"):
        assert again.column(name).level == graphs.column(name).level
        assert again.column(name).values.tolist() == graphs.column(name).values.tolist()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"pair_count": Column(np.array([8, 10, 6, 13]), "graph")}, "sums to 37, but there are 36 pairs"),
        ({"pair_count": Column(np.array([8.0, 10, 6, 12]), "graph")}, "one integer from 0 per graph"),
        ({"pair_count": Column(np.array([8, 10, -6, 24]), "graph")}, "one integer from 0 per graph"),
        ({"pair_count": Column(np.array([12, 6, 6, 12]), "graph")}, "a node index outside 0 to 3: pair 10 is"),
        ({"pair_count": None}, "a single graph, or the graph column 'pair_count'"),
    ],
)
def test_sets_that_are_refused(changed: dict[str, Column | None], message: str) -> None:
    graphs = graphs_with_pairs()
    columns = {name: column for name, column in {**graphs.columns, **changed}.items() if column is not None}
    with pytest.raises(InvalidGraphError, match=message):
        GraphSet.build(graphs.node_counts, graphs.edge_counts, graphs.edge_index, columns)
