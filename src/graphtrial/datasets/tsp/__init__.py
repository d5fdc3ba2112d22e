"""The travelling salesman: random points, their shortest tours with proofs, and graphs labelled with them."""

from graphtrial.datasets.tsp.dataset import TSP, SmallTSP
from graphtrial.datasets.tsp.generate import generate
from graphtrial.tsp import Limits, Proof

__all__ = ["TSP", "Limits", "Proof", "SmallTSP", "generate"]
