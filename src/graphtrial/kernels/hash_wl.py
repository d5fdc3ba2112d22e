"""Hash graph kernel for graphs with real-valued node attributes."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from scipy import sparse

from graphtrial.core.arguments import PositiveFloat, Range, Seed, Steps
from graphtrial.core.compiler import compiled
from graphtrial.graphs import GraphSet
from graphtrial.kernels.base import KERNELS, GraphKernel, Output
from graphtrial.kernels.refinement import in_order_of_appearance
from graphtrial.kernels.structure import Structure
from graphtrial.kernels.wl import colour_counts


@KERNELS.register("hash-wl", title="Hash-WL")
class HashWeisfeilerLehman(GraphKernel):
    r"""Hash graph kernel with WL subtree base kernel, Morris et al. 2016 (arXiv:1610.00064).

    .. math:: k(G, H) = \frac{1}{R} \sum_{r=1}^{R} k_{WL}\big(f_r(G), f_r(H)\big), \qquad
        f_r(x) = \Big\lfloor \frac{v_r \cdot x + w b_r}{w} \Big\rfloor

    with random hash functions f_r (p-stable LSH: v normal, b uniform, drawn from `seed`), so that close attributes
    mostly get the same label. Attributes are standardised with mean and standard deviation of the fitted graphs, so
    the bin width w is in standard deviations; node labels are combined with the bins. Without attributes it equals
    the WL subtree kernel.
    """

    attributes = True

    def __init__(
        self,
        h: Steps = 3,
        repetitions: Annotated[int, Range(1, 10_000)] = 20,
        width: PositiveFloat = 1.0,
        seed: Seed = 0,
        node_labels: bool = True,
        normalise: bool = True,
        output: Output = "gram",
    ) -> None:
        self.h = h
        self.repetitions = repetitions
        self.width = width
        self.seed = seed
        self.node_labels = node_labels
        self.normalise = normalise
        self.output = output

    def features(self, structure: Structure) -> sparse.csr_matrix:
        scaled = (structure.attributes - self.mean_) / self.std_
        rng = np.random.Generator(np.random.PCG64(self.seed))
        blocks = []
        for _ in range(self.repetitions):
            direction, offset = rng.standard_normal(scaled.shape[1]), rng.random()
            bins = _bins(scaled, direction, offset, self.width)
            _, bin_number = np.unique(bins, return_inverse=True)
            kinds = int(bin_number.max(initial=0)) + 1
            colour, colours = in_order_of_appearance(structure.node_label * kinds + bin_number.reshape(-1))
            blocks += colour_counts(structure, colour, colours, self.h)
        return sparse.csr_matrix(sparse.hstack(blocks, format="csr") / np.sqrt(self.repetitions))

    def _fit(self, graphs: GraphSet) -> None:
        self._check()
        attributes = self._structure(graphs).attributes
        self.mean_ = attributes.mean(axis=0) if len(attributes) else np.zeros(attributes.shape[1])
        std = attributes.std(axis=0) if len(attributes) else np.ones(attributes.shape[1])
        self.std_ = np.where(std > 0, std, 1.0)
        super()._fit(graphs)


@compiled
def _bins(points: Any, direction: Any, offset: float, width: float) -> Any:
    """Return the hash bin of each row; dot products are summed in a fixed order, independent of the other rows."""
    bins = np.empty(len(points), np.int64)
    for row in range(len(points)):
        total = 0.0
        for column in range(len(direction)):
            total += points[row, column] * direction[column]
        bins[row] = np.int64(np.floor(total / width + offset))
    return bins
