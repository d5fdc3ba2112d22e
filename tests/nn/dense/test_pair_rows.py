"""3WL-GNN on pairs without padding against its twin on padded buckets, and the kernels against plain sums."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.helpers.dense_oracles import slow_product_block
from tests.helpers.samples import DEGENERATE, EDGE_TYPES, NODE_TYPES, batch_of, random_graphs

from graphtrial.graphs.pairs import ragged
from graphtrial.graphs.pairs.ragged import Ragged, ragged_plan
from graphtrial.nn import Shapes, build_model
from graphtrial.nn.dense.pair_pooling import row_maxima, row_node_sum
from graphtrial.nn.dense.pair_rows import row_block
from graphtrial.nn.dense.product_block import ProductBlock
from graphtrial.ops.vector_paths import force_vectors

pytestmark = pytest.mark.kernels

SIZES = [3, 1, 4, 9, 2]


def rows_of(sizes: list[int]) -> Ragged:
    return Ragged(max(sizes), torch.tensor(sizes), 0)


def state(channels: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(rows_of(SIZES).pairs, channels, dtype=torch.float64, generator=generator)


@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_the_block_equals_the_loop_over_pairs(depth: int, residual: bool) -> None:
    torch.manual_seed(1)
    block, bucket = ProductBlock(16, 16, depth=depth, residual=residual).double(), rows_of(SIZES)
    x = state(16)
    out = row_block(x, None, block.row_weights(), bucket)
    for graph, n in enumerate(SIZES):
        rows = slice(bucket.ptr[graph], bucket.ptr[graph + 1])
        expected = slow_product_block(block, x[rows].T.reshape(16, n, n))
        torch.testing.assert_close(out[rows].T.reshape(16, n, n), expected)


@pytest.mark.parametrize("zeros", [0.0, 0.9], ids=["dense", "few rows"])
def test_gradients_of_the_block_are_those_of_finite_differences(zeros: float) -> None:
    """Also where few rows of the gradient are nonzero, which takes other products."""
    torch.manual_seed(1)
    block, bucket = ProductBlock(8, 8, depth=2, residual=False).double(), rows_of(SIZES)
    weights = block.row_weights()
    x = state(8).requires_grad_()
    factor = torch.randn(bucket.pairs, 8, dtype=torch.float64) * (torch.rand(bucket.pairs, 1) >= zeros)
    inputs = x, weights.skip_input, weights.skip_product, weights.bias, *weights.mlps[0], *weights.mlps[1]

    def loss(x: torch.Tensor, *rest: torch.Tensor) -> torch.Tensor:
        skip = rest[:3]
        changed = weights._replace(
            skip_input=skip[0], skip_product=skip[1], bias=skip[2], mlps=[(rest[3], rest[4]), (rest[5], rest[6])]
        )
        return (row_block(x, None, changed, bucket) * factor).sum()

    leaves = tuple(value.detach().clone().requires_grad_() for value in inputs)
    assert torch.autograd.gradcheck(loss, leaves, fast_mode=True)


@pytest.mark.parametrize("level", ["graph", "node", "edge"])
@pytest.mark.parametrize("settings", [{}, {"depth": 1, "residual": True}, {"depth": 3, "edge_features": True}])
def test_a_model_equals_its_twin_on_padded_buckets(
    level: str, settings: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in several groups of graphs. Weights that keep all values apart leave no ties among maxima."""
    monkeypatch.setattr(ragged, "GROUP_PAIRS", 60)
    batch = batch_of([*DEGENERATE, *random_graphs(9, seed=1)])
    shapes = Shapes(outputs=2, level=level, node_types=NODE_TYPES, edge_types=EDGE_TYPES)
    torch.manual_seed(0)
    model = build_model("3wl-gnn", shapes, {"width": 11, "layers": 3, **settings}).double()
    outcomes = []
    for vectors in (True, False):
        with force_vectors(vectors):
            assert isinstance(model.plan(batch).buckets[0], Ragged) == vectors
            model.zero_grad()
            out = model(batch)
            out.sin().sum().backward()
        outcomes.append([out.detach(), *(p.grad.clone() for p in model.parameters() if p.grad is not None)])
    torch.testing.assert_close(outcomes[0][0], outcomes[1][0])
    if level != "graph":  # equal maxima may be found in other pairs
        for actual, expected in zip(*outcomes, strict=True):
            torch.testing.assert_close(actual, expected)


def test_pooling_is_that_of_each_graph_alone() -> None:
    bucket, x = rows_of(SIZES), state(8, seed=2)
    maxima, sums = row_maxima(x, 5, bucket), row_node_sum(x, 5, bucket)
    for graph, n in enumerate(SIZES):
        h = x[bucket.ptr[graph] : bucket.ptr[graph + 1], :5].reshape(n, n, 5)
        diagonal = torch.eye(n, dtype=torch.bool)
        rest = h[~diagonal].max(0).values if n > 1 else torch.zeros(5, dtype=torch.float64)
        assert torch.equal(maxima[graph], torch.cat([h[diagonal].max(0).values, rest]))
        nodes = slice(bucket.node_ptr[graph], bucket.node_ptr[graph + 1])
        torch.testing.assert_close(sums[nodes], h.sum(0))


def test_gradients_of_pooling_are_those_of_finite_differences() -> None:
    bucket, x = rows_of(SIZES), state(8, seed=2).requires_grad_()
    assert torch.autograd.gradcheck(lambda h: row_maxima(h, 5, bucket), (x,), fast_mode=True)
    assert torch.autograd.gradcheck(lambda h: row_node_sum(h, 5, bucket), (x,), fast_mode=True)


def test_nan_reaches_the_maximum() -> None:
    bucket, x = rows_of(SIZES), state(8)
    x[bucket.ptr[3] + 1, 2] = torch.nan
    maxima = row_maxima(x, 8, bucket)
    assert maxima.isnan().nonzero().tolist() == [[3, 8 + 2]]


def test_groups_have_whole_graphs_and_enough_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ragged, "GROUP_PAIRS", 30)
    plan = ragged_plan(batch_of([(n, []) for n in (5, 3, 5, 4, 2, 6, 1)]), 12)
    assert all(bucket.pairs >= 12 for bucket in plan.buckets)
    assert [n for bucket in plan.buckets for n in bucket.sizes.tolist()] == [5, 3, 5, 4, 2, 6, 1]
    assert [bucket.start for bucket in plan.buckets] == np.cumsum([0, *(b.pairs for b in plan.buckets)])[:-1].tolist()
