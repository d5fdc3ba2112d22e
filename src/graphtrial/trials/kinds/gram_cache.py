"""Gram matrices and explicit features of whole datasets, cached on disk."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from graphtrial.core.cache import cache_folder, cached
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.plugins.origins import origin_digests
from graphtrial.core.spec import Component, digest
from graphtrial.datasets import Dataset
from graphtrial.graphs import storage
from graphtrial.kernels.base import KERNELS


def kernel_matrix(dataset: Dataset, kernel: Component) -> Any:
    """Return the Gram matrix or the features of a whole dataset, computed once and cached on disk.

    The checksum of a cached matrix is verified by each process that opens it: 0.1 s for the 135 MB of 4,110 graphs,
    where a fold takes seconds. The key includes the source files of a kernel of the user's own.
    """
    kind = KERNELS.get(kernel.name)
    facts = {"data": dataset.graphs.content_hash, "kernel": [kernel.name, kind.version, kernel.arguments]}
    origin = origin_digests(kind)
    key = digest({**facts, "origin": origin} if origin else facts)
    folder = cache_folder("kernels", f"{dataset.name}-{kernel.name}", key)

    def make() -> None:
        matrix = check_matrix(kind(**kernel.arguments).fit_transform(dataset.graphs), len(dataset.graphs), kernel.name)
        if sparse.issparse(matrix):
            csr = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr}
            storage.save(folder, csr, {"shape": list(matrix.shape)})
        else:
            storage.save(folder, {"gram": matrix}, {})

    def read() -> Any:
        arrays, about = storage.load(folder)
        if "gram" in arrays:
            return arrays["gram"]
        csr = tuple(np.asarray(arrays[name]) for name in ("data", "indices", "indptr"))
        return sparse.csr_matrix(csr, shape=tuple(about["shape"]))

    return cached(folder, make, read)


def check_matrix(matrix: Any, graphs: int, name: str) -> Any:
    """Return a Gram or feature matrix of `graphs` graphs after validating shape, finiteness and symmetry."""
    subject = "features" if sparse.issparse(matrix) else "Gram matrix"
    if not sparse.issparse(matrix):
        matrix = np.asarray(matrix)
    shape = tuple(matrix.shape)
    if (
        matrix.dtype.kind not in "iuf"
        or len(shape) != 2
        or shape[0] != graphs
        or (subject != "features" and shape[1] != graphs)
    ):
        wanted = f"[{graphs}, features]" if subject == "features" else f"[{graphs}, {graphs}]"
        raise GraphTrialError(
            f"kernel '{name}' gives a {subject} of {matrix.dtype} {list(shape)}, not of numbers {wanted}"
        )
    broken = np.flatnonzero(~np.isfinite(np.asarray(matrix.sum(axis=1)).reshape(-1)))
    if len(broken):
        raise GraphTrialError(
            f"kernel '{name}' gives numbers that are not finite for {len(broken)} graphs, first {broken[0]}"
        )
    if subject != "features" and not np.allclose(matrix, matrix.T, rtol=1e-6, atol=1e-12):
        raise GraphTrialError(f"kernel '{name}' gives a Gram matrix that is not symmetric")
    return matrix
