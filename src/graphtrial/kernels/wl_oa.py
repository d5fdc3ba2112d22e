"""Weisfeiler-Leman optimal assignment kernel."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from graphtrial.kernels import gram
from graphtrial.kernels.base import KERNELS
from graphtrial.kernels.wl import WeisfeilerLehman


@KERNELS.register("wl-oa", title="WL-OA")
class WeisfeilerLehmanOptimalAssignment(WeisfeilerLehman):
    r"""Weisfeiler-Leman optimal assignment kernel, Kriege et al. 2016 (arXiv:1606.01141).

    .. math:: k(G, H) = \sum_{i=0}^{h} \sum_{c} \min(\#_c^i(G), \#_c^i(H))

    The similarity of two nodes is the number of rounds in which they share a colour; the optimal assignment of nodes
    is then the histogram intersection of the colours. It has no explicit feature map: use `output="gram"`.
    """

    explicit = False

    def compare(self, left: sparse.csr_matrix, right: sparse.csr_matrix) -> npt.NDArray[np.float64]:
        return gram.intersections(left, right)

    def diagonal(self, features: sparse.csr_matrix) -> npt.NDArray[np.float64]:
        return np.asarray(features.sum(axis=1)).reshape(-1)
