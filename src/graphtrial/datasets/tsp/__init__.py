"""Travelling salesman datasets: random instances, optimal tours with proofs, and k-NN graphs with edge labels."""

from graphtrial.datasets.tsp.dataset import TSP, SmallTSP
from graphtrial.datasets.tsp.generate import generate
from graphtrial.tsp import Limits, Proof

__all__ = ["TSP", "Limits", "Proof", "SmallTSP", "generate"]
