"""Pictures of datasets: samples of their graphs, and their statistics."""

from graphtrial.plots.figures import plot

__all__ = ["plot"]
