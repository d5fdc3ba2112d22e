"""Drawers of graphs, one per file; a dataset is drawn by the first one that supports it."""

from graphtrial.plots.drawers.base import DRAWERS, Drawer, drawer_of

__all__ = ["DRAWERS", "Drawer", "drawer_of"]
