"""The operators of the benchmark match the library calls they are compared with. Nothing is timed."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from benchmarks.operators import cases, workloads
from graphtrial.graphs import GraphBatch, GraphSet


@pytest.mark.slow
@pytest.mark.parametrize(("graphs", "width"), [(graphs, width) for _, graphs, width in workloads(quick=True)])
def test_operators_match_library_calls(graphs: GraphSet, width: int) -> None:
    torch.manual_seed(0)
    for case in cases(GraphBatch.from_set(graphs, np.arange(len(graphs))), width):
        ours, theirs = ([value.clone().requires_grad_() for value in case.inputs] for _ in range(2))
        if case.name != "dropout":
            outputs, expected = case.ours(*ours), case.library(*theirs)
            torch.testing.assert_close(outputs, expected, rtol=1e-3, atol=1e-3, msg=case.name)
