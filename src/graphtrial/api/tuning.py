"""Tune a model under a budget."""

from __future__ import annotations

from collections.abc import Mapping
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
from graphtrial.tuning.declaration import Tuning
from graphtrial.tuning.space_files import load_space, read_space
from graphtrial.tuning.subject import Configuration, Subject
from graphtrial.tuning.tune import Tuned
from graphtrial.tuning.tune import tune as run_tuning


@dataclass(frozen=True)
class TuningResult:
    """A search with all its configurations, and the result row of the chosen one."""

    search: Tuned
    row: ResultRow

    @property
    def chosen(self) -> Configuration:
        """Settings, encoding and rules of the chosen configuration."""
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
    options = TuneOptions(budget, name, search, seed, tuning_seeds, tuning_splits, lag)
    subject = Subject(
        dataset, model, dict(settings or {}), encoding, params, protocol, with_precision(rules, precision)
    )
    opened = Store(store)
    where = RunOptions(workers, listener, executor, Compute(device, threads, per_device, compile))
    tuned = run_tuning(Tuning(subject, tables, options, seeds, splits), opened, **vars(where))
    return TuningResult(tuned, result_rows(tuned.tests, load_searches(opened))[0])
