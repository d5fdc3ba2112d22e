"""Attention among the nodes of each graph, against torch's own, graph by graph."""

from __future__ import annotations

import pytest
import torch
from tests.helpers.samples import batch_of, vectors
from torch import Tensor, nn
from torch.nn import functional as F

from graphtrial.graphs import GraphBatch
from graphtrial.graphs.pairs.complete import complete_graph
from graphtrial.nn.graphgps.self_attention import SelfAttention
from graphtrial.ops import graph_attention as module
from graphtrial.ops.graph_attention import graph_attention, pair_blocks

SIZES = [5, 1, 0, 7, 5, 30, 2, 6, 0, 5]


def batch(sizes: list[int] = SIZES) -> GraphBatch:
    return batch_of([(size, []) for size in sizes])


def inputs(graph: GraphBatch, heads: int = 2, width: int = 3) -> list[Tensor]:
    rows = [vectors(graph.num_nodes, heads * width, seed).view(-1, heads, width) for seed in range(3)]
    return [row.requires_grad_() for row in rows]


def one_by_one(graph: GraphBatch, q: Tensor, k: Tensor, v: Tensor, pairs: Tensor | None = None) -> Tensor:
    """Torch's attention on each graph alone."""
    out, first = [], 0
    for begin, end in zip(graph.ptr[:-1].tolist(), graph.ptr[1:].tolist(), strict=True):
        size = end - begin
        bias = None if pairs is None else pairs[first : first + size**2].view(size, size, 2).permute(2, 0, 1)
        parts = (x[begin:end].transpose(0, 1) for x in (q, k, v))
        out.append(F.scaled_dot_product_attention(*parts, attn_mask=bias).transpose(0, 1))
        first += size**2
    return torch.cat(out)


@pytest.mark.parametrize("padding_cost", [0, 60, 10_000])
@pytest.mark.parametrize("biased", [False, True])
def test_values_and_gradients_match_single_graphs(
    biased: bool, padding_cost: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PADDING_COST", padding_cost)
    graph = batch()
    parts = inputs(graph)
    pairs = vectors(complete_graph(graph).num_edges, 2, seed=9).requires_grad_() if biased else None
    given = [*parts, pairs] if pairs is not None else parts
    weight = vectors(graph.num_nodes, 6, seed=4).view(-1, 2, 3)
    expected = one_by_one(graph, *parts, pairs)
    wanted = torch.autograd.grad((expected * weight).sum(), given)
    for fused in (False, True):
        biases = None if pairs is None else pair_blocks(graph, pairs)
        if fused:  # the path of other devices
            blocks, place = module._blocks(graph)
            out = module._fused(*parts, 0.0, blocks, biases)[place]
        else:
            out = graph_attention(graph, *parts, biases)
        torch.testing.assert_close(out, expected)
        torch.testing.assert_close(torch.autograd.grad((out * weight).sum(), given), wanted)


@pytest.mark.parametrize("most_saved", [0, 1 << 20])
def test_gradients_go_through_the_dropped_weights(most_saved: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_SAVED", most_saved)
    graph = batch([3, 4, 2])
    pairs = vectors(29, 2, seed=9).requires_grad_()

    def attend(q: Tensor, k: Tensor, v: Tensor, pairs: Tensor) -> Tensor:
        torch.manual_seed(3)
        return graph_attention(graph, q, k, v, pair_blocks(graph, pairs), dropout=0.4)

    assert torch.autograd.gradcheck(attend, (*inputs(graph), pairs))


def test_dropout_keeps_the_mean_and_is_drawn_from_torchs_generator() -> None:
    graph = batch([6, 9])
    q, k, v = (part.detach() for part in inputs(graph))
    torch.manual_seed(0)
    first, second = (graph_attention(graph, q, k, v, dropout=0.5) for _ in range(2))
    torch.manual_seed(0)
    assert torch.equal(graph_attention(graph, q, k, v, dropout=0.5), first)
    assert not torch.equal(first, second)
    mean = sum(graph_attention(graph, q, k, v, dropout=0.5) for _ in range(4000)) / 4000
    torch.testing.assert_close(mean, graph_attention(graph, q, k, v), rtol=0, atol=0.1)


def test_self_attention_is_torchs_multi_head_attention() -> None:
    graph = batch()
    ours, theirs = SelfAttention(8, 2, 0.0).double(), nn.MultiheadAttention(8, 2, batch_first=True).double()
    theirs.in_proj_weight, theirs.in_proj_bias = ours.projection.weight, ours.projection.bias
    theirs.out_proj.weight, theirs.out_proj.bias = ours.output.weight, ours.output.bias
    x = vectors(graph.num_nodes, 8)
    expected = [theirs(*[part.unsqueeze(0)] * 3)[0][0] for part in x.split(graph.ptr.diff().tolist()) if len(part)]
    torch.testing.assert_close(ours(graph, x), torch.cat(expected))


def test_batch_without_nodes() -> None:
    graph = batch([0, 0])
    assert graph_attention(graph, *inputs(graph)).shape == (0, 2, 3)
    assert pair_blocks(graph, vectors(0, 2)) == []
