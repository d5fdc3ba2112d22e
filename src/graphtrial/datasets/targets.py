"""Several targets of different units, made comparable."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.graphs import Column, GraphSet
from graphtrial.tasks import GraphRegression


def target_columns(values: npt.NDArray[Any], meaning: str) -> dict[str, Column]:
    """Return the columns `y`, in which every target has mean 0 and deviation 1, and `targets`, in their own units.

    The mean absolute error over `y` is then in standard deviations of the targets, as MPNN and TUDataset report it.
    Mean and deviation are over all graphs, test graphs included, as in the reference: a change of units, no more.
    """
    exact = values.astype(np.float64)
    y = (exact - exact.mean(axis=0)) / _spread(exact)
    return {
        "y": Column(y.astype(np.float32), "graph", f"standardised: {meaning}"),
        "targets": Column(exact, "graph", meaning),
    }


def standardised_task(graphs: GraphSet) -> GraphRegression:
    """Return the task on targets that `target_columns` made, which knows their deviations."""
    values = np.asarray(graphs.column("targets").values)
    return GraphRegression(values.shape[1], std=_spread(values).tolist())


def _spread(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the deviation of each target, 1 where it never differs."""
    spread = values.std(axis=0)
    return np.where(spread > 0, spread, 1.0)
