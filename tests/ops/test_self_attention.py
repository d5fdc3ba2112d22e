"""Attention of packed queries, keys and values, against torch's own, graph by graph."""

from __future__ import annotations

import pytest
import torch
from tests.helpers.samples import batch_of, vectors
from torch import Tensor
from torch.nn import functional as F

from graphtrial.graphs import GraphBatch
from graphtrial.ops import self_attention
from graphtrial.ops.kernels.graph_attention import QUERIES
from graphtrial.ops.portable import portable_path
from graphtrial.ops.vector_paths import force_vectors

SIZES = [5, 1, 0, 7, QUERIES, 16, 2 * QUERIES + 5, 17, 0, QUERIES + 1]


def batch(sizes: list[int] = SIZES) -> GraphBatch:
    return batch_of([(size, []) for size in sizes])


def one_by_one(graph: GraphBatch, qkv: Tensor, heads: int) -> Tensor:
    parts = []
    for rows in qkv.split(graph.ptr.diff().tolist()):
        q, k, v = rows.view(len(rows), 3, heads, rows.shape[1] // (3 * heads)).permute(1, 2, 0, 3)
        parts.append(F.scaled_dot_product_attention(q, k, v).transpose(0, 1).flatten(1))
    return torch.cat(parts)


@pytest.mark.parametrize("path", ["compiled", "without vectors", "portable"])
@pytest.mark.parametrize(("heads", "width"), [(1, 3), (2, 16), (4, 36)])
def test_values_and_gradients_match_single_graphs(heads: int, width: int, path: str) -> None:
    graph = batch()
    qkv, weight = vectors(graph.num_nodes, 3 * width).requires_grad_(), vectors(graph.num_nodes, width, seed=1)
    expected = one_by_one(graph, qkv, heads)
    with portable_path(path == "portable"), force_vectors(path == "compiled"):
        out = self_attention(graph, qkv, heads)
        (ours,) = torch.autograd.grad((out * weight).sum(), qkv)
    torch.testing.assert_close(out, expected)
    torch.testing.assert_close(ours, torch.autograd.grad((expected * weight).sum(), qkv)[0])


def test_large_scores_of_single_precision_do_not_overflow() -> None:
    graph = batch([9, 60])
    qkv = 40 * vectors(graph.num_nodes, 48).float()
    torch.testing.assert_close(self_attention(graph, qkv, 2), one_by_one(graph, qkv, 2), rtol=1e-4, atol=1e-4)


def test_gradients_go_through_the_dropped_weights() -> None:
    graph = batch([3, 14, 1])

    def attend(qkv: Tensor) -> Tensor:
        torch.manual_seed(3)
        return self_attention(graph, qkv, 2, dropout=0.4)

    assert torch.autograd.gradcheck(attend, vectors(graph.num_nodes, 12).requires_grad_())


def test_dropout_keeps_the_mean_and_every_weight_has_a_mask_of_its_own() -> None:
    graph = batch([6, 9])
    qkv = vectors(graph.num_nodes, 12)
    torch.manual_seed(0)
    first, second = (self_attention(graph, qkv, 2, 0.5) for _ in range(2))
    torch.manual_seed(0)
    assert torch.equal(self_attention(graph, qkv, 2, 0.5), first)
    assert not torch.equal(first, second)
    mean = sum(self_attention(graph, qkv, 2, 0.5) for _ in range(4000)) / 4000
    torch.testing.assert_close(mean, self_attention(graph, qkv, 2), rtol=0, atol=0.1)
    unit = torch.eye(16).repeat(2, 2)  # values of both heads: the weights themselves appear
    masks = self_attention(batch([16, 16]), torch.cat([torch.zeros(32, 64), unit], dim=1), 2, 0.5).view(64, 16)
    assert set(masks.unique().tolist()) == {0.0, 0.125}
    assert len(masks.unique(dim=0)) > 60  # rows, heads and graphs have masks of their own
    assert 0.4 < float((masks > 0).float().mean()) < 0.6


def test_batch_without_nodes() -> None:
    assert self_attention(batch([0, 0]), torch.zeros(0, 12), 2).shape == (0, 4)
