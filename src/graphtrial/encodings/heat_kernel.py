"""Heat-kernel structural encoding: diagonals of the heat kernel."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch

from graphtrial.core.arguments import Width
from graphtrial.core.process import compute_settings
from graphtrial.core.signatures import validated
from graphtrial.encodings.base import ENCODINGS, Encoding
from graphtrial.encodings.spectrum import check_dense, dense_eigenpairs
from graphtrial.graphs import GraphSet

ZERO = 1e-8


@ENCODINGS.register("heat-kernel", title="Heat kernel")
class HeatKernelSE(Encoding):
    r"""Diagonals of the heat kernel at the times 1, 2, ... k, without the heat that stays: HKdiagSE of GPS.

    .. math:: p_{it} = \sum_{j:\ \lambda_j > 0} e^{-t \lambda_j} v_{ij}^2, \quad (D - A) v_j = \lambda_j v_j

    Eigenvalues below 1e-8 are left out, as in the released code of GPS (arXiv:2205.12454): they contribute one over the
    size of the node's component at every time. A directed graph counts as (A + A^T) / 2. All eigenvectors are needed,
    so graphs have at most 6,000 nodes.
    """

    name = "heat-kernel"
    abbreviation = "HKdiagSE"

    @validated
    def __init__(self, k: Width) -> None:
        self.k = self.width = k

    def compute(self, graphs: GraphSet) -> npt.NDArray[np.float32]:
        check_dense(graphs, f"the {self.name} encodings")
        out = np.zeros((graphs.num_nodes, self.width), np.float32)
        times = torch.arange(1, self.width + 1, dtype=torch.float64)
        with compute_settings():
            for rows, values, vectors in dense_eigenpairs(graphs, np.ones(len(graphs), bool), "none"):
                decay = torch.exp(-values.unsqueeze(2) * times) * (values > ZERO).unsqueeze(2)
                # one product per graph: the rounding of a batched one may depend on the number of graphs
                kernels = [own @ factors for own, factors in zip(vectors.square(), decay, strict=True)]
                out[rows] = torch.cat(kernels).numpy()
        return out
