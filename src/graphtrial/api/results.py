"""Read and compare the results of a store."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from graphtrial.core.files import DEFAULT_STORE
from graphtrial.results import ResultRows
from graphtrial.results.compare import compare as compare_models
from graphtrial.results.comparison import Comparison
from graphtrial.results.select import opened, stored_rows
from graphtrial.results.statistics.differences import Test
from graphtrial.trials import Store


def compare(
    a: str,
    b: str,
    *,
    datasets: Sequence[str] = (),
    test: Test = "permutation",
    margin: float | None = None,
    store: Store | Path | str = DEFAULT_STORE,
) -> list[Comparison]:
    """Compare two models on each dataset where both have results, such as `compare("gcn", "gin/laplacian:20")`.

    Models are named as in `graphtrial compare`; `test` is permutation or wilcoxon, `margin` the equivalence margin in
    units of the metric, by default 1 % of the mean of `b`.
    """
    return compare_models(load_results(store), a, b, datasets=tuple(datasets), test=test, margin=margin)


def load_results(store: Store | Path | str = DEFAULT_STORE) -> ResultRows:
    """Return the rows of a store; `load_results().to_pandas()` is a pandas.DataFrame."""
    return stored_rows(opened(store))
