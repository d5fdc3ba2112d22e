"""CPU kernels on the node pairs of each graph, for models that multiply matrices of nodes (3WL-GNN)."""

from graphtrial.ops.kernels.pairs.layers import linear_relu, linear_relu_backward, nonzero_rows, sum_of_products
from graphtrial.ops.kernels.pairs.pooling import column_sums, column_sums_backward, pair_maxima, pair_maxima_backward
from graphtrial.ops.kernels.pairs.product import pair_product, pair_product_backward

__all__ = [
    "column_sums",
    "column_sums_backward",
    "linear_relu",
    "linear_relu_backward",
    "nonzero_rows",
    "pair_maxima",
    "pair_maxima_backward",
    "pair_product",
    "pair_product_backward",
    "sum_of_products",
]
