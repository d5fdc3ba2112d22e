"""Several targets of different units, made comparable."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.graphs import Column


def target_columns(values: npt.NDArray[Any], meaning: str) -> dict[str, Column]:
    """Return the columns `y`, in which every target has mean 0 and deviation 1, and `targets`, in their own units.

    The mean absolute error over `y` is then in standard deviations of the targets, as MPNN and TUDataset report it.
    Mean and deviation are over all graphs, test graphs included, as in the reference: a change of units, no more.
    """
    exact = values.astype(np.float64)
    spread = exact.std(axis=0)
    y = (exact - exact.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return {
        "y": Column(y.astype(np.float32), "graph", f"standardised: {meaning}"),
        "targets": Column(exact, "graph", meaning),
    }
