"""The ways to draw a graph, one per file; the first that fits a dataset draws it."""

from graphtrial.plots.drawers.base import DRAWERS, Drawer, drawer_of

__all__ = ["DRAWERS", "Drawer", "drawer_of"]
