"""Sparse operators on batches: each a fused CPU kernel with its own backward pass, and a reference in plain torch."""

from graphtrial.ops.aggregate import aggregate, aggregate_messages, symmetric_weight
from graphtrial.ops.attention import attention
from graphtrial.ops.batch_norm import batch_norm
from graphtrial.ops.dropout import dropout, dropout_mask
from graphtrial.ops.edge_ops import edge_add, edge_dot
from graphtrial.ops.edge_softmax import edge_softmax
from graphtrial.ops.feature_linear import feature_linear, sparse_features
from graphtrial.ops.gated_mean import gated_mean
from graphtrial.ops.l2_normalize import l2_normalize
from graphtrial.ops.linear import linear
from graphtrial.ops.relu_sum import relu_sum
from graphtrial.ops.self_attention import self_attention

__all__ = [
    "aggregate",
    "aggregate_messages",
    "attention",
    "batch_norm",
    "dropout",
    "dropout_mask",
    "edge_add",
    "edge_dot",
    "edge_softmax",
    "feature_linear",
    "gated_mean",
    "l2_normalize",
    "linear",
    "relu_sum",
    "self_attention",
    "sparse_features",
    "symmetric_weight",
]
