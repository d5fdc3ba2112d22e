"""Eigenvectors of the graph Laplacian with their eigenvalues."""

from __future__ import annotations

from types import MappingProxyType
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


@ENCODINGS.register("laplacian-pairs", title="Laplacian eigenpairs")
class LaplacianPairs(Encoding):
    r"""The k smallest eigenvalues of the Laplacian, the trivial one included, with their eigenvectors.

    .. math:: p_i = [v_{i1}, \dots, v_{ik}, \lambda_1, \dots, \lambda_k], \quad L v_j = \lambda_j v_j, \ \|v_j\| = 1

    L is the symmetric normalised Laplacian of `laplacian`, or D - A with `normalization=none`; 2k columns. For encoders
    that read pairs (v_ij, lambda_j): LapPE of SAN (arXiv:2106.03893) and GPS (arXiv:2205.12454), SignNet. Columns that
    a graph of fewer than k nodes lacks are NaN, which other models read as zero. One random sign per eigenvector and
    training batch, as in GPS; `sign=fixed` flips none. `scale=rows` divides the k entries of each node by their norm,
    as the released code of SAN does.
    """

    name = "laplacian-pairs"
    abbreviation = "LapPE-pairs"
    padding = "nan"
    relabelling = "sign"
    unrandomised = MappingProxyType({"sign": "fixed"})

    @validated
    def __init__(
        self,
        k: Width,
        normalization: Normalization = "sym",
        sign: Literal["random", "fixed"] = "random",
        scale: Literal["vectors", "rows"] = "vectors",
    ) -> None:
        self.k = k
        self.width = 2 * k
        self.normalization: Normalization = normalization
        self.sign = sign
        self.scale = scale

    def cache_key(self) -> dict[str, Any]:
        rows = {"scale": self.scale} if self.scale != "vectors" else {}
        return {"k": self.k, "normalization": self.normalization, **rows}

    def compute(self, graphs: GraphSet) -> npt.NDArray[np.float32]:
        vectors, values = smallest_eigenpairs(graphs, self.k, self.normalization, np.nan)
        if self.scale == "rows":
            norms = np.sqrt(np.nansum(vectors.astype(np.float64) ** 2, axis=1, keepdims=True))
            vectors = (vectors / np.maximum(norms, 1e-12)).astype(np.float32)
        return np.concatenate([vectors, values], axis=1)

    def training_view(self, values: Tensor, generator: torch.Generator) -> Tensor:
        return flip_signs(values, self.k, generator) if self.sign == "random" else values
