"""The Weisfeiler-Leman optimal assignment kernel."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from graphtrial.kernels import gram
from graphtrial.kernels.base import KERNELS
from graphtrial.kernels.wl import WeisfeilerLeman


@KERNELS.register("wl-oa", title="WL-OA")
class WeisfeilerLemanOptimalAssignment(WeisfeilerLeman):
    r"""The best one-to-one assignment of the nodes of two graphs, Kriege et al. 2016 (arXiv:1606.01141).

    .. math:: k(G, H) = \sum_{i=0}^{h} \sum_{c} \min(\#_c^i(G), \#_c^i(H))

    Two nodes are the more alike the longer refinement gives them the same colour, so that the best assignment is the
    intersection of the colour histograms. It is no dot product of the counts: use `output="gram"`.
    """

    explicit = False

    def compare(self, left: sparse.csr_matrix, right: sparse.csr_matrix) -> npt.NDArray[np.float64]:
        return gram.intersections(left, right)

    def lengths(self, features: sparse.csr_matrix) -> npt.NDArray[np.float64]:
        return np.asarray(features.sum(axis=1)).reshape(-1)
