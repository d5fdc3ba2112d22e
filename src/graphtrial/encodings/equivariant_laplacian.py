"""Eigenvectors of the graph Laplacian for distances inside message passing."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from graphtrial.core.arguments import Width
from graphtrial.core.signatures import validated
from graphtrial.encodings.base import ENCODINGS, Encoding
from graphtrial.encodings.spectrum import Normalization, flip_signs, smallest_eigenpairs
from graphtrial.graphs import GraphSet


@ENCODINGS.register("equivariant-laplacian", title="Equivariant Laplacian")
class EquivariantLaplacian(Encoding):
    r"""The k eigenvectors of smallest eigenvalue of the Laplacian, the trivial one included (arXiv:2203.00199).

    .. math:: p_i = [v_{i1}, \dots, v_{ik}], \quad r_{ij} = \phi(\|W p_i - W p_j\|^2)

    GPS with message passing and Exphormer weight the message from j to i by r_ij and add p to no node
    (EquivStableLapPE), as they do for `laplacian-pairs` with `eigen_encoder=stable`; any other model takes it as
    `laplacian`. Zero where a graph has fewer than k nodes. Released code flips no signs,
    which is the default, and takes the normalised Laplacian regardless of its configuration.
    """

    name = "equivariant-laplacian"
    version = 2
    abbreviation = "ESLapPE"
    relabelling = "sign"

    @validated
    def __init__(
        self, k: Width, normalization: Normalization = "sym", sign: Literal["random", "fixed"] = "fixed"
    ) -> None:
        self.k = self.width = k
        self.normalization: Normalization = normalization
        self.sign = sign

    def cache_key(self) -> dict[str, Any]:
        return {"k": self.width, "normalization": self.normalization}

    def compute(self, graphs: GraphSet) -> npt.NDArray[np.float32]:
        return smallest_eigenpairs(graphs, self.width, self.normalization, 0.0)[0]

    def training_view(self, values: Tensor, generator: torch.Generator) -> Tensor:
        return flip_signs(values, self.width, generator) if self.sign == "random" else values
