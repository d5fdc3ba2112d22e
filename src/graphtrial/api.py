"""The few calls that most scripts need.

A name that a caller hands over is the caller's word: code outside this package that it names is imported. A study read
from a file is not: what it names must be allowed by `allow` first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import nn

from graphtrial import datasets
from graphtrial.core.files import DEFAULT_STORE
from graphtrial.core.hardware.compute import Compute
from graphtrial.core.plugins.imports import registered_name
from graphtrial.core.plugins.permissions import allow
from graphtrial.core.spec import parse_value
from graphtrial.datasets import DATASETS, Dataset, DatasetSpec
from graphtrial.encodings import Encoding
from graphtrial.encodings.base import encoding_text
from graphtrial.encodings.notation import encoding_names
from graphtrial.execution import Executor, Progress, StudyRun
from graphtrial.execution.executor import Listener
from graphtrial.nn import MODELS, build_model
from graphtrial.results import ResultRow, ResultRows, result_rows
from graphtrial.studies import ModelEntry, Study
from graphtrial.studies.study import choose_settings, parse_encoding
from graphtrial.studies.tune_options import TuneOptions
from graphtrial.trials import Store
from graphtrial.trials.shapes import make_encoding, shapes_for
from graphtrial.trials.store.searches import load_searches
from graphtrial.tuning.declaration import Tuning
from graphtrial.tuning.of_study import tunings_of
from graphtrial.tuning.space_files import load_space, read_space
from graphtrial.tuning.subject import Configuration, Subject
from graphtrial.tuning.tune import Tuned
from graphtrial.tuning.tune import tune as run_tuning


def load(dataset: str | type[DatasetSpec]) -> Dataset:
    """Load a dataset by name or class, such as `load("zinc")` or `load(gt.datasets.ZINC)`; prepare it if necessary."""
    name = registered_name(DATASETS, dataset)
    allow(name)
    return datasets.load(name)


def prepare(dataset: str | type[DatasetSpec], force: bool = False) -> Dataset:
    """Download, parse, check and cache a dataset, and return it; with `force` even if it is cached already."""
    name = registered_name(DATASETS, dataset)
    allow(name)
    return datasets.prepare(name, force)


def info(dataset: str | type[DatasetSpec]) -> dict[str, Any]:
    """Return the metadata and statistics of a dataset as JSON-like values; prepare it if necessary."""
    name = registered_name(DATASETS, dataset)
    allow(name)
    return datasets.info(name)


def build(
    model: str | type[nn.Module],
    dataset: Dataset | str | type[DatasetSpec],
    *,
    encoding: str | type[Encoding] | Encoding = "none",
    budget: str | None = None,
    **settings: Any,
) -> nn.Module:
    """Build a model for a dataset, such as `build("gcn", "csl", width=146)` or `build(gt.nn.GCN, gt.datasets.CSL)`.

    Without a width the published one is taken, or the widest within `budget`. An unknown setting is an error.
    """
    model, encoding = _model_name(model), encoding_text(encoding)
    allow(model, *encoding_names(encoding))
    data = dataset if isinstance(dataset, Dataset) else load(dataset)
    component = parse_encoding(encoding, model)
    shapes = shapes_for(data, make_encoding(component))
    row = ModelEntry(model, settings, budget=budget)
    return build_model(model, shapes, choose_settings(data.name, lambda: shapes, row, component))


def run(
    dataset: str | type[DatasetSpec],
    model: str | type[nn.Module],
    *,
    encoding: str | type[Encoding] | Encoding = "none",
    settings: dict[str, Any] | None = None,
    budget: str | None = None,
    protocol: str | None = None,
    rules: dict[str, Any] | None = None,
    seeds: int | tuple[int, ...] | None = None,
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
) -> ResultRow:
    """Give one model a fair trial on one dataset and return its row; trials that have a result are not run again.

    By default the trials run one after the other in this process; `workers` lets so many run at once in processes of
    their own, `None` as many as there are cores. An `executor` takes the place of both. The encoding is a text such as
    `laplacian:20` or `rwse:20+laplacian:8`, or an instance such as `gt.encodings.LaplacianPE(k=20)`. `device`,
    `threads`, `per_device` and `compile` say where and how they are computed, as the fields of
    `graphtrial.core.hardware.compute.Compute`; `precision` (32, tf32 or bf16) is a training rule and makes other
    trials.
    """
    dataset, model, encoding = registered_name(DATASETS, dataset), _model_name(model), encoding_text(encoding)
    allow(dataset, model, *encoding_names(encoding), *([protocol] if protocol else []))
    study = Study(
        title=f"{model} on {dataset}",
        dataset=dataset,
        rows=(ModelEntry(model, dict(settings or {}), (encoding,), budget),),
        protocol=protocol,
        seeds=seeds,
        splits=splits,
        rules=_rules(rules, precision),
    )
    return run_study(
        study,
        store=store,
        workers=workers,
        listener=listener,
        executor=executor,
        device=device,
        threads=threads,
        per_device=per_device,
        compile=compile,
    )[0]


def run_study(
    study: Study,
    *,
    store: Path | str = DEFAULT_STORE,
    workers: int | None = 0,
    listener: Listener = lambda progress: None,
    executor: Executor | None = None,
    device: str = "auto",
    threads: int | None = None,
    per_device: int = 1,
    compile: bool = False,
) -> ResultRows:
    """Run what is missing of a study and return its rows; code outside this package that it names must be allowed."""
    options = _RunOptions(workers, listener, executor, Compute(device, threads, per_device, compile))
    run, tunings = StudyRun(study.trials(), Store(Path(store))), tunings_of(study)
    records = run.run(**vars(options))
    for tuning in tunings:
        records += run_tuning(tuning, run.store, **vars(options)).tests
    return result_rows({record.id: record for record in records}.values(), load_searches(run.store))


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
    dataset, model, encoding = registered_name(DATASETS, dataset), _model_name(model), encoding_text(encoding)
    allow(dataset, model, *encoding_names(encoding), *([protocol] if protocol else []))
    name = space if isinstance(space, str) else "given"
    tables = load_space(space, model) if isinstance(space, str) else read_space(space, name)
    options = TuneOptions(budget, name, search, seed, tuning_seeds, tuning_splits, lag)
    subject = Subject(dataset, model, dict(settings or {}), encoding, params, protocol, _rules(rules, precision))
    opened = Store(Path(store))
    where = _RunOptions(workers, listener, executor, Compute(device, threads, per_device, compile))
    tuned = run_tuning(Tuning(subject, tables, options, seeds, splits), opened, **vars(where))
    return TuningResult(tuned, result_rows(tuned.tests, load_searches(opened))[0])


@dataclass(frozen=True)
class _RunOptions:
    """How trials are run, as `StudyRun.run` takes it."""

    workers: int | None
    listener: Listener
    executor: Executor | None
    compute: Compute


def _rules(rules: dict[str, Any] | None, precision: str | int | None) -> dict[str, Any]:
    return {**(rules or {}), **({} if precision is None else {"precision": parse_value(str(precision))})}


def _model_name(model: str | type[nn.Module]) -> str:
    """Return the registered name of a model or of its layer."""
    if isinstance(model, str):
        return model
    kind = getattr(model, "layer_class", model)
    return registered_name(MODELS, kind)


__all__ = ["DEFAULT_STORE", "Progress", "TuningResult", "build", "info", "load", "prepare", "run", "run_study", "tune"]
