"""Tune a model under a budget."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import nn

from graphtrial.api.trials import RunOptions, model_name, with_precision
from graphtrial.core.files import DEFAULT_STORE
from graphtrial.core.hardware.compute import Compute
from graphtrial.core.plugins.imports import registered_name
from graphtrial.core.plugins.permissions import allow
from graphtrial.datasets import DATASETS, DatasetSpec
from graphtrial.encodings import Encoding
from graphtrial.encodings.base import encoding_text
from graphtrial.encodings.notation import encoding_names
from graphtrial.execution import Executor
from graphtrial.execution.executor import Listener
from graphtrial.results import ResultRow, result_rows
from graphtrial.studies.tune_options import TuneOptions
from graphtrial.trials import Store
from graphtrial.trials.store.searches import load_searches
from graphtrial.tuning.declaration import declare_searches
from graphtrial.tuning.space_files import load_space, read_space
from graphtrial.tuning.subject import Configuration, Subject
from graphtrial.tuning.tune import Tuned
from graphtrial.tuning.tune import tune as run_tuning


@dataclass(frozen=True)
class TuningResult:
    """Searches with all their configurations, one unless each fold has its own, and the row of what they chose."""

    searches: tuple[Tuned, ...]
    row: ResultRow

    @property
    def search(self) -> Tuned:
        """The search; of a nested selection, that of the first fold."""
        return self.searches[0]

    @property
    def chosen(self) -> Configuration:
        """Settings, encoding and rules of the chosen configuration; of a nested selection, of the first fold."""
        return self.search.chosen.configuration


def tune(
    dataset: str | type[DatasetSpec],
    model: str | type[nn.Module],
    *,
    budget: str,
    space: str | Mapping[str, Any] = "default",
    search: str = "random",
    params: str | None = None,
    seed: int = 0,
    tuning_seeds: int = 1,
    tuning_splits: int = 1,
    lag: int = 4,
    eta: int = 3,
    encoding: str | type[Encoding] | Encoding = "none",
    settings: dict[str, Any] | None = None,
    protocol: str | None = None,
    rules: dict[str, Any] | None = None,
    seeds: int | None = None,
    splits: int | None = None,
    store: Path | str = DEFAULT_STORE,
    workers: int | None = 0,
    listener: Listener = lambda progress: None,
    executor: Executor | None = None,
    device: str = "auto",
    threads: int | None = None,
    per_device: int = 1,
    precision: str | int | None = None,
    compile: bool = False,
) -> TuningResult:
    """Tune a model on the validation part under a `budget` such as `60trials`, then test the best configuration.

    `space` is a TOML file, the name of a shipped space, or its tables as a mapping; the width follows from the
    parameter budget `params`. `search` is random, tpe, grid or halving. The other arguments are those of `run`; `seeds`
    and `splits` are those of the test. A killed search resumes with the same call.
    """
    dataset, model, encoding = registered_name(DATASETS, dataset), model_name(model), encoding_text(encoding)
    allow(dataset, model, *encoding_names(encoding), *([protocol] if protocol else []))
    name = space if isinstance(space, str) else "given"
    tables = load_space(space, model) if isinstance(space, str) else read_space(space, name)
    options = TuneOptions(budget, name, search, seed, tuning_seeds, tuning_splits, lag, eta)
    subject = Subject(
        dataset, model, dict(settings or {}), encoding, params, protocol, with_precision(rules, precision)
    )
    opened = Store(store)
    where = RunOptions(workers, listener, executor, Compute(device, threads, per_device, compile))
    tunings = declare_searches(subject, tables, options, seeds, splits)
    if tunings[0].leak:
        warnings.warn(tunings[0].leak, stacklevel=2)
    results = tuple(run_tuning(tuning, opened, **vars(where)) for tuning in tunings)
    return TuningResult(results, tested_row(results, opened))


def tested_row(results: Sequence[Tuned], store: Store) -> ResultRow:
    """Return the row of the configurations that these searches chose; a nested selection has one for all its folds."""
    ids = {tuned.tuning.id for tuned in results}
    tests = [test for tuned in results for test in tuned.tests]
    (row,) = result_rows(tests, [search for search in load_searches(store) if search.id in ids])
    return row
