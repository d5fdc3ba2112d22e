"""Superpixel graphs over their images."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from graphtrial.datasets import Dataset
from graphtrial.datasets.superpixels import SuperpixelSpec
from graphtrial.io.sources import find
from graphtrial.plots.drawers.base import DRAWERS, Array, Drawer, draw_links, draw_nodes
from graphtrial.plots.subgraph import Subgraph

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@DRAWERS.register("superpixels")
class SuperpixelDrawer(Drawer):
    """Nodes at the superpixel centres in their colour, over the image if it is available."""

    order = 10

    @staticmethod
    def fits(dataset: Dataset) -> bool:
        return isinstance(dataset.spec, SuperpixelSpec)

    @cached_property
    def images(self) -> Array | None:
        """All images, if the dataset was prepared from them and they are available."""
        spec = self.dataset.spec
        source = next(source for source in spec.sources if source.name == self.dataset.provenance["source"])
        raw = {file.name: path for file in source.files if (path := find(file)) is not None}
        if not isinstance(spec, SuperpixelSpec) or len(raw) < len(source.files):
            return None
        images = spec.images(source, raw)
        return None if images is None else np.concatenate([images[0][0], images[1][0]])

    def draw(self, axes: Axes, part: Subgraph) -> None:
        x, spec = part.column("x"), self.dataset.spec
        if x is None or not isinstance(spec, SuperpixelSpec):
            return
        side = spec.config.side
        places = x[:, [-1, -2]] * side  # column to the right, row down
        image = mosaic(x, side) if self.images is None else self.images[part.graph] / 255.0
        axes.imshow(image, cmap="gray", vmin=0, vmax=1, interpolation="nearest", alpha=0.9, zorder=0)
        draw_links(axes, places, part.ends, colour="#e69f00", width=0.35, alpha=0.7)
        colours = np.repeat(x[:, :1], 3, axis=1) if x.shape[1] == 3 else x[:, :3]
        draw_nodes(axes, places, np.clip(colours, 0, 1), size=16, edge="#56b4e9")
        axes.set_axis_off()


def mosaic(x: Array, side: int) -> Array:
    """Return the Voronoi image of the superpixel colours."""
    rows, columns = np.mgrid[:side, :side].reshape(2, -1)
    centre = x[:, -2:] * side
    nearest = ((rows[:, None] - centre[:, 0]) ** 2 + (columns[:, None] - centre[:, 1]) ** 2).argmin(axis=1)
    colours = np.clip(x[nearest, :-2], 0, 1).reshape(side, side, -1)
    return colours[:, :, 0] if colours.shape[2] == 1 else colours
