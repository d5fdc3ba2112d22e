"""`graphtrial run` and `graphtrial study`: train and test models."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphtrial.cli.common import (
    Allowed,
    ChangedRules,
    Compile,
    Device,
    EdgeFeatures,
    Edition,
    EncodingText,
    ExecutorText,
    Json,
    MaxEpochs,
    ModelSettings,
    ParameterBudget,
    PerDevice,
    Plugins,
    Precision,
    ProtocolName,
    StorePath,
    Threads,
    Workers,
    friendly,
    load_code,
    names,
    out,
    parse_rules,
    parse_settings,
    print_json,
)
from graphtrial.cli.completion import complete_dataset, complete_model, complete_study
from graphtrial.cli.running import chosen_executor, resumable, show_records
from graphtrial.cli.studies import show_plan
from graphtrial.core.files import DEFAULT_STORE
from graphtrial.core.hardware.compute import AUTOMATIC, Compute
from graphtrial.core.parallel import prepare_workers
from graphtrial.core.spec import parse_value

if TYPE_CHECKING:
    from graphtrial.studies import Study

Seeds = Annotated[
    int | None,
    typer.Option(min=1, help="Number of seeds: of the protocol, then derived ones; all of the protocol by default."),
]
Track = Annotated[str | None, typer.Option(help="Also log the trials to mlflow, tensorboard or wandb.")]
Splits = Annotated[int | None, typer.Option(min=1, help="Number of splits; all by default.")]


@friendly
def run(
    dataset: Annotated[str, typer.Argument(help="A dataset, such as csl or zinc.", autocompletion=complete_dataset)],
    model: Annotated[
        str, typer.Argument(help="A model, such as gcn, or module:attribute.", autocompletion=complete_model)
    ],
    encoding: EncodingText = "none",
    seeds: Seeds = None,
    splits: Splits = None,
    layers: Annotated[int | None, typer.Option(min=1, help="Depth; the published one by default.")] = None,
    width: Annotated[int | None, typer.Option(min=1, help="Width; the published one by default.")] = None,
    budget: ParameterBudget = None,
    edge_features: EdgeFeatures = False,
    settings: ModelSettings = None,
    protocol: ProtocolName = None,
    edition: Edition = "sound",
    rules: ChangedRules = None,
    max_epochs: MaxEpochs = None,
    plugin: Plugins = None,
    allow: Allowed = None,
    workers: Workers = None,
    executor: ExecutorText = None,
    device: Device = "auto",
    threads: Threads = None,
    per_device: PerDevice = 1,
    precision: Precision = None,
    compile: Compile = False,
    track: Track = None,
    store: StorePath = DEFAULT_STORE,
    json: Json = False,
) -> None:
    """Train and test one model under the dataset's protocol.

    Example: graphtrial run csl gatedgcn --encoding laplacian:20 --seeds 4
    """
    compute = Compute(device, threads, per_device, compile)
    if workers != 0 and executor is None:
        prepare_workers()
    from graphtrial.encodings.notation import encoding_names

    load_code(plugin, allow, dataset, model, *encoding_names(encoding), protocol)
    from graphtrial.studies import ModelEntry, Study
    from graphtrial.studies.edition import in_edition

    chosen = parse_settings(settings or [])
    chosen |= {key: value for key, value in (("layers", layers), ("width", width)) if value is not None}
    if edge_features:
        chosen["edge_features"] = True
    changed = parse_rules(rules or [], max_epochs, precision)
    row = ModelEntry(model, chosen, (encoding,), budget, released=protocol is not None)
    title = f"{model} on {dataset}"
    declared = Study(title, dataset, (row,), protocol=protocol, seeds=seeds, splits=splits, rules=changed)
    run_and_show(in_edition(declared, edition), store, workers, json, executor, track, compute)


@friendly
def study(
    name: Annotated[str, typer.Argument(help="A study of the catalog, or a TOML file.", autocompletion=complete_study)],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan and run nothing.")] = False,
    datasets: Annotated[str, typer.Option(help="Only these datasets, such as ENZYMES,PROTEINS.")] = "",
    models: Annotated[str, typer.Option(help="Only these models or kernels, such as wl,graphlet.")] = "",
    seeds: Annotated[
        int | None,
        typer.Option("--seeds", "--repetitions", min=1, help="Number of seeds: of the protocol, then derived ones."),
    ] = None,
    edition: Edition = "sound",
    estimate: Annotated[
        bool, typer.Option("--estimate", help="With --dry-run: time a few batches of untimed models.")
    ] = False,
    report: Annotated[Path | None, typer.Option(help="Write a report to this folder afterwards.")] = None,
    plugin: Plugins = None,
    allow: Allowed = None,
    workers: Workers = None,
    executor: ExecutorText = None,
    device: Device = "auto",
    threads: Threads = None,
    per_device: PerDevice = 1,
    precision: Precision = None,
    compile: Compile = False,
    track: Track = None,
    store: StorePath = DEFAULT_STORE,
    json: Json = False,
) -> None:
    """Run the missing trials of a study.

    Example: graphtrial study demo
    """
    compute = Compute(device, threads, per_device, compile)
    load_code(plugin, allow, *names(datasets), *names(models))
    from graphtrial.studies import load_study
    from graphtrial.studies.edition import in_edition

    loaded = in_edition(load_study(name).only(names(datasets), names(models), seeds), edition)
    if precision is not None:
        loaded = replace(loaded, rules={**loaded.rules, "precision": parse_value(precision)})
    if workers != 0 and executor is None and not dry_run:
        prepare_workers(sklearn=loaded.needs_sklearn)
    if dry_run:
        if json:
            print_json([{"id": trial.id, **trial.to_dict()} for trial in loaded.trials()])
        else:
            show_plan(loaded, store, estimate=estimate)
        return
    run_and_show(loaded, store, workers, json, executor, track, compute)
    if report is not None:
        from graphtrial.report import write_report
        from graphtrial.trials import Store

        page = write_report(Store(store, read_only=True), report)
        if not json:
            out.print(f"report: open {page} in a browser", soft_wrap=True)


def run_and_show(
    study: Study,
    path: Path,
    workers: int | None,
    json: bool,
    executor: str | None = None,
    track: str | None = None,
    compute: Compute = AUTOMATIC,
) -> None:
    """Run the missing trials of a study, and its searches, with progress, and print its rows."""
    from graphtrial.cli.progress import shown_progress
    from graphtrial.cli.tune import run_tunings
    from graphtrial.execution import StudyRun
    from graphtrial.execution.eta import RemainingTime
    from graphtrial.tracking import tracked
    from graphtrial.trials import Store
    from graphtrial.tuning.of_study import tunings_of

    chosen = chosen_executor(executor, workers, compute)
    run = StudyRun(study.trials(), Store(path))
    tunings = tunings_of(study)  # what cannot be tuned is an error before anything runs
    remaining = RemainingTime(run.trials, run.records())
    with resumable(lambda: f"{run.finished} of {len(run.trials)} trials"):
        with (
            shown_progress(len(run.trials), run.finished, quiet=json, remaining=remaining) as shown,
            tracked(track, run.store, shown) as listener,
        ):
            records = run.run(workers=workers, listener=listener, executor=chosen, compute=compute)
        for tuned in run_tunings(tunings, run.store, workers, chosen, track, compute, quiet=json):
            records += tuned.tests
    show_records(records, run.store, json=json, single=len(study.rows) == 1)
