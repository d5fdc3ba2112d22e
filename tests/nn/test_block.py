"""Residual block: batch norm, ReLU, skip connection, dropout."""

from __future__ import annotations

import pytest
import torch
from tests.helpers.samples import DEGENERATE, batch_of, vectors
from torch import Tensor, nn

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.nn.block import Block, BlockConfig
from graphtrial.nn.conv.gatedgcn import GatedGCN
from graphtrial.nn.conv.gcn import GCN
from graphtrial.nn.layers import BatchNorm
from graphtrial.ops import dropout

WIDTH = 6


def block_of(kind: type, **keywords: bool | float) -> Block:
    torch.manual_seed(3)
    config = {"batch_norm": True, "residual": True, "dropout": 0.0, **keywords}
    block = Block(kind(WIDTH), WIDTH, BlockConfig(**config)).double()
    with torch.no_grad():
        for parameter in block.parameters():
            parameter.add_(torch.randn_like(parameter) / 2)
    return block


def by_hand(norm: nn.Module, new: Tensor, old: Tensor, *, training: bool) -> Tensor:
    """Batch norm, ReLU and residual connection, written out."""
    if isinstance(norm, nn.BatchNorm1d):
        mean, variance = (
            (new.mean(0), new.var(0, unbiased=False)) if training else (norm.running_mean, norm.running_var)
        )
        new = (new - mean) / (variance + 1e-5).sqrt() * norm.weight + norm.bias
    return old + new.clamp(min=0)


@pytest.fixture
def batch() -> GraphBatch:
    return batch_of(DEGENERATE)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("batch_norm", [True, False])
def test_nodes_and_edges_pass_norm_activation_and_skip_connection(
    batch: GraphBatch, training: bool, batch_norm: bool
) -> None:
    block = block_of(GatedGCN, batch_norm=batch_norm).train(training)
    x, e = vectors(batch.num_nodes, WIDTH), vectors(batch.num_edges, WIDTH, seed=1)
    new_x, new_e = block.conv(batch, x, e)
    expected_x = by_hand(block.node_norm, new_x, x, training=training)
    expected_e = by_hand(block.edge_norm, new_e, e, training=training)
    out_x, out_e = block(batch, x, e)
    torch.testing.assert_close(out_x, expected_x)
    torch.testing.assert_close(out_e, expected_e)


def test_without_skip_connection_the_input_is_not_added(batch: GraphBatch) -> None:
    block = block_of(GCN, residual=False)
    x = vectors(batch.num_nodes, WIDTH)
    out, e = block(batch, x, None)
    assert e is None
    torch.testing.assert_close(out + x, by_hand(block.node_norm, block.conv(batch, x, None)[0], x, training=True))


def test_dropout_is_last_and_only_in_training(batch: GraphBatch) -> None:
    block = block_of(GCN, dropout=0.4)
    x = vectors(batch.num_nodes, WIDTH)
    expected = by_hand(block.node_norm, block.conv(batch, x, None)[0], x, training=True)
    torch.manual_seed(11)
    out = block(batch, x, None)[0]
    torch.manual_seed(11)
    torch.testing.assert_close(out, dropout(expected, 0.4))
    assert 0 < int((out == 0).sum()) < out.numel()
    block.eval()
    assert torch.equal(block(batch, x, None)[0], block(batch, x, None)[0])


def test_layer_norm_acts_per_row(batch: GraphBatch) -> None:
    block = block_of(GCN, batch_norm=False, layer_norm=True)
    x = vectors(batch.num_nodes, WIDTH)
    new = block.conv(batch, x, None)[0]
    new = (new - new.mean(1, keepdim=True)) / (new.var(1, keepdim=True, unbiased=False) + 1e-5).sqrt()
    expected = x + (new * block.node_norm.weight + block.node_norm.bias).clamp(min=0)
    torch.testing.assert_close(block(batch, x, None)[0], expected)
    with pytest.raises(GraphTrialError, match="batch norm or layer norm, not both"):
        BlockConfig(batch_norm=True, layer_norm=True, residual=True, dropout=0.0)


def test_graph_norm_divides_by_sqrt_of_size(batch: GraphBatch) -> None:
    block = block_of(GatedGCN, batch_norm=False, graph_norm=True)
    x, e = vectors(batch.num_nodes, WIDTH), vectors(batch.num_edges, WIDTH, seed=1)
    new_x, new_e = block.conv(batch, x, e)
    of_edge = batch.batch[batch.edge_index[1]]
    nodes = [int((batch.batch == graph).sum()) ** 0.5 for graph in batch.batch.tolist()]
    edges = [int((of_edge == graph).sum()) ** 0.5 for graph in of_edge.tolist()]
    out_x, out_e = block(batch, x, e)
    torch.testing.assert_close(out_x, x + (new_x / torch.tensor(nodes).double()[:, None]).clamp(min=0))
    torch.testing.assert_close(out_e, e + (new_e / torch.tensor(edges).double()[:, None]).clamp(min=0))


def test_batch_norm_momentum_matches_the_papers() -> None:
    norm, theirs = BatchNorm(WIDTH, "relu").double(), nn.BatchNorm1d(WIDTH).double()
    for seed in range(3):
        x = vectors(7, WIDTH, seed)
        torch.testing.assert_close(norm(x), theirs(x).relu())
    assert norm.state_dict().keys() == theirs.state_dict().keys()
    torch.testing.assert_close(norm.running_mean, theirs.running_mean)
    torch.testing.assert_close(norm.running_var, theirs.running_var)


@pytest.mark.parametrize("rows", [0, 1])
def test_batch_of_one_row_does_not_update_running_statistics(rows: int) -> None:
    norm = BatchNorm(WIDTH, "relu").double()
    norm(vectors(9, WIDTH))
    before = {name: value.clone() for name, value in norm.named_buffers() if name != "num_batches_tracked"}
    x = vectors(rows, WIDTH, seed=1)
    out = norm(x)
    torch.testing.assert_close(out, norm.eval()(x))
    for name, value in before.items():
        assert torch.equal(norm.get_buffer(name), value)
