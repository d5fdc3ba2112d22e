"""Plots of datasets: sample graphs and statistics (matplotlib)."""

from graphtrial.plots.figures import plot

__all__ = ["plot"]
