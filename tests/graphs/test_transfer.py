"""Batches collated on a device, which is the CPU here."""

from __future__ import annotations

import pytest
import torch
from tests.helpers.samples import DEGENERATE, graph_set, random_graphs

from graphtrial.graphs import GraphBatch
from graphtrial.graphs.transfer import ResidentSet

GRAPHS = graph_set([*DEGENERATE, *random_graphs(8, seed=0)])


@pytest.mark.parametrize("ids", [[3, 1, 0, 2, 8, 16, 5], [2], [], [7, 7], range(17)])
def test_device_collation_matches_host_collation(ids: list[int]) -> None:
    there, here = ResidentSet(GRAPHS, torch.device("cpu")).batch(list(ids)), GraphBatch.from_set(GRAPHS, list(ids))
    tables = ((there._structure, here._structure), (there.columns, here.columns))
    for ours, theirs in tables:
        assert ours.keys() == theirs.keys()
        for name, values in ours.items():
            torch.testing.assert_close(values, theirs[name], rtol=0, atol=0)
    assert (there.num_graphs, there.host_ptr.tolist()) == (here.num_graphs, here.ptr.tolist())
