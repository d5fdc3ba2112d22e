"""Sparse operations on batches: each a fused CPU kernel with its own gradient, and a reference in plain torch."""

from graphtrial.ops.aggregate import aggregate, symmetric_weight
from graphtrial.ops.attention import attention
from graphtrial.ops.collect import collect
from graphtrial.ops.dot import edge_dot
from graphtrial.ops.dropout import dropout, keep_noise
from graphtrial.ops.ends import sum_of_ends
from graphtrial.ops.features import feature_linear, sparse_features
from graphtrial.ops.gated import gated_mean
from graphtrial.ops.linear import linear
from graphtrial.ops.norm import batch_norm
from graphtrial.ops.softmax import edge_softmax
from graphtrial.ops.unit import unit_rows

__all__ = [
    "aggregate",
    "attention",
    "batch_norm",
    "collect",
    "dropout",
    "edge_dot",
    "edge_softmax",
    "feature_linear",
    "gated_mean",
    "keep_noise",
    "linear",
    "sparse_features",
    "sum_of_ends",
    "symmetric_weight",
    "unit_rows",
]
