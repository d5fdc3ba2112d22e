"""Version of the order of arithmetic, which decides the last bits of results."""

NUMERICS = 2
"""Raised when operators round differently than before; trials without it count as 1.

- 1: sums over all rows in one go.
- 2: sums over rows (gradients of weights and biases, statistics of batch norm) by blocks that follow from the shape, so
  that several threads give the same bits; linear layers of encoders and heads by our own matrix product.
"""
