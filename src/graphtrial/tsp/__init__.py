"""Exact solver of the travelling-salesman problem: the shortest tour through points in the plane, with a proof."""

from graphtrial.tsp.proof import Limits, Proof

__all__ = ["Limits", "Proof"]
