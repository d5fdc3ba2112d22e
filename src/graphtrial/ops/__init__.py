"""Sparse operators on batches: each a fused CPU kernel with its own backward pass, and a reference in plain torch."""

from graphtrial.ops.add_row import add_row
from graphtrial.ops.aggregate import aggregate, aggregate_messages, self_loop_scales, symmetric_weight
from graphtrial.ops.attention import attention
from graphtrial.ops.attention_scores import attention_scores
from graphtrial.ops.batch_norm import batch_norm
from graphtrial.ops.clamped_attention import clamped_attention
from graphtrial.ops.dropout import dropout, dropout_mask
from graphtrial.ops.edge_ops import edge_add, edge_dot
from graphtrial.ops.edge_softmax import edge_softmax
from graphtrial.ops.feature_linear import feature_linear, sparse_features
from graphtrial.ops.gated_mean import gated_mean
from graphtrial.ops.gaussian_weights import gaussian_weights
from graphtrial.ops.l2_normalize import l2_normalize
from graphtrial.ops.linear import linear
from graphtrial.ops.mixture_sum import mixture_sum
from graphtrial.ops.modulated_relu import modulated_relu
from graphtrial.ops.multi_aggregate import multi_aggregate
from graphtrial.ops.relu_sum import relu_sum
from graphtrial.ops.self_attention import self_attention
from graphtrial.ops.tower_linear import tower_linear

__all__ = [
    "add_row",
    "aggregate",
    "aggregate_messages",
    "attention",
    "attention_scores",
    "batch_norm",
    "clamped_attention",
    "dropout",
    "dropout_mask",
    "edge_add",
    "edge_dot",
    "edge_softmax",
    "feature_linear",
    "gated_mean",
    "gaussian_weights",
    "l2_normalize",
    "linear",
    "mixture_sum",
    "modulated_relu",
    "multi_aggregate",
    "relu_sum",
    "self_attention",
    "self_loop_scales",
    "sparse_features",
    "symmetric_weight",
    "tower_linear",
]
