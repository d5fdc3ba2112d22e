"""Sparse aggregation over the edges of a batch."""

from graphtrial.ops.aggregate import aggregate

__all__ = ["aggregate"]
