"""Build models and run trials.

A name passed as an argument is trusted: code outside this package that it names is imported. A study read from a file
is not trusted: what it names must be allowed by `allow` first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from torch import nn

from graphtrial.api.data import load
from graphtrial.core.files import DEFAULT_STORE
from graphtrial.core.hardware.compute import Compute
from graphtrial.core.plugins.imports import registered_name
from graphtrial.core.plugins.permissions import allow
from graphtrial.core.spec import parse_value
from graphtrial.datasets import DATASETS, Dataset, DatasetSpec
from graphtrial.encodings import Encoding
from graphtrial.encodings.base import encoding_text
from graphtrial.encodings.notation import encoding_names
from graphtrial.execution import Executor, StudyRun
from graphtrial.execution.executor import Listener
from graphtrial.nn import MODELS, build_model
from graphtrial.results import ResultRow, ResultRows, result_rows
from graphtrial.studies import ModelEntry, Study
from graphtrial.studies.edition import in_edition
from graphtrial.studies.one_model import shapes_and_settings
from graphtrial.trials import Store
from graphtrial.trials.shapes import shapes_for
from graphtrial.trials.store.searches import load_searches
from graphtrial.tuning.of_study import tunings_of
from graphtrial.tuning.tune import tune as run_tuning


def build(
    model: str | type[nn.Module],
    dataset: Dataset | str | type[DatasetSpec],
    *,
    encoding: str | type[Encoding] | Encoding = "none",
    budget: str | None = None,
    protocol: str | None = None,
    edition: str = "sound",
    **settings: Any,
) -> nn.Module:
    """Build a model for a dataset, such as `build("gcn", "csl", width=146)` or `build(gt.nn.GCN, gt.datasets.CSL)`.

    Without a width the published one is taken, that released for the `protocol` where there are several, or the widest
    within `budget`. The edition "as-published" has the faults of the released code. An unknown setting is an error.
    """
    model, encoding = model_name(model), encoding_text(encoding)
    allow(model, *encoding_names(encoding), *([protocol] if protocol else []))
    data = dataset if isinstance(dataset, Dataset) else load(dataset)
    entry = ModelEntry(model, settings, (encoding,), budget, released=protocol is not None)
    declared = Study(model, data.name, (entry,), protocol=protocol)
    rows = in_edition(declared, edition).rows
    shapes, chosen = shapes_and_settings(replace(declared, rows=rows), partial(shapes_for, data))
    return build_model(model, shapes, chosen)


def run(
    dataset: str | type[DatasetSpec],
    model: str | type[nn.Module],
    *,
    encoding: str | type[Encoding] | Encoding = "none",
    settings: dict[str, Any] | None = None,
    budget: str | None = None,
    protocol: str | None = None,
    edition: str = "sound",
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

    By default the trials run sequentially in this process; `workers` is the number of concurrent worker processes,
    `None` for one per core. An `executor` replaces both. The encoding is a text such as `laplacian:20` or
    `rwse:20+laplacian:8`, or an instance such as `gt.encodings.LaplacianPE(k=20)`. The edition "as-published" has the
    faults of the papers' code and data (docs/errata.md). `device`, `threads`, `per_device` and `compile` say where and
    how they are computed, as the fields of `graphtrial.core.hardware.compute.Compute`; `precision` (32, tf32 or bf16)
    is a training rule and makes other trials.
    """
    dataset, model, encoding = registered_name(DATASETS, dataset), model_name(model), encoding_text(encoding)
    allow(dataset, model, *encoding_names(encoding), *([protocol] if protocol else []))
    study = Study(
        title=f"{model} on {dataset}",
        dataset=dataset,
        rows=(ModelEntry(model, dict(settings or {}), (encoding,), budget, released=protocol is not None),),
        protocol=protocol,
        seeds=seeds,
        splits=splits,
        rules=with_precision(rules, precision),
    )
    return run_study(
        in_edition(study, edition),
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
    options = RunOptions(workers, listener, executor, Compute(device, threads, per_device, compile))
    run, tunings = StudyRun(study.trials(), Store(store)), tunings_of(study)
    records = run.run(**vars(options))
    for tuning in tunings:
        records += run_tuning(tuning, run.store, **vars(options)).tests
    return result_rows({record.id: record for record in records}.values(), load_searches(run.store))


@dataclass(frozen=True)
class RunOptions:
    """How trials are run, as `StudyRun.run` takes it."""

    workers: int | None
    listener: Listener
    executor: Executor | None
    compute: Compute


def with_precision(rules: dict[str, Any] | None, precision: str | int | None) -> dict[str, Any]:
    return {**(rules or {}), **({} if precision is None else {"precision": parse_value(str(precision))})}


def model_name(model: str | type[nn.Module]) -> str:
    """Return the registered name of a model or of its layer."""
    if isinstance(model, str):
        return model
    kind = getattr(model, "layer_class", model)
    return registered_name(MODELS, kind)
