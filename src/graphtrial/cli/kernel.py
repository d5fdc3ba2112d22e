"""`graphtrial kernel`: evaluate a graph kernel."""

from __future__ import annotations

from typing import Annotated

import typer

from graphtrial.cli.common import (
    Allowed,
    ExecutorText,
    Json,
    Plugins,
    StorePath,
    Workers,
    friendly,
    load_code,
    parse_settings,
)
from graphtrial.cli.completion import complete_dataset, complete_kernel
from graphtrial.cli.run import Track, run_and_show
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.files import DEFAULT_STORE
from graphtrial.core.parallel import prepare_workers


@friendly
def kernel(
    dataset: Annotated[
        str, typer.Argument(help="A dataset of classified graphs, such as tu/enzymes.", autocompletion=complete_dataset)
    ],
    name: Annotated[
        str,
        typer.Argument(metavar="KERNEL", help="A kernel, such as wl or shortest-path.", autocompletion=complete_kernel),
    ],
    h: Annotated[int | None, typer.Option(min=0, help="Refinement steps; selected from 0 to 5 by default.")] = None,
    repetitions: Annotated[
        int | None,
        typer.Option(
            "--repetitions", "--seeds", min=1, help="Number of repetitions; seeds of the protocol, then derived ones."
        ),
    ] = None,
    folds: Annotated[
        int | None, typer.Option("--folds", "--splits", min=1, help="Number of folds of each; all by default.")
    ] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="Any setting of the kernel: key=value.")] = None,
    linear: Annotated[bool, typer.Option("--linear", help="Fit sparse features instead of a Gram matrix.")] = False,
    protocol: Annotated[
        str | None, typer.Option(help="Rules of the cross-validation; tudataset/kernel-svm by default.")
    ] = None,
    rules: Annotated[list[str] | None, typer.Option("--rule", help="Change a rule of the trial: key=value.")] = None,
    plugin: Plugins = None,
    allow: Allowed = None,
    workers: Workers = None,
    executor: ExecutorText = None,
    device: Annotated[str | None, typer.Option(hidden=True)] = None,
    track: Track = None,
    store: StorePath = DEFAULT_STORE,
    json: Json = False,
) -> None:
    """Evaluate a graph kernel with a support vector machine: repeated ten-fold cross-validation.

    Example: graphtrial kernel tu/enzymes wl --repetitions 10
    """
    if device is not None:
        raise GraphTrialError("graph kernels are computed on the CPU: leave out --device")
    if linear and protocol is not None:
        raise GraphTrialError("--linear is short for --protocol tudataset/kernel-linear; leave out one of them")
    if workers != 0 and executor is None:
        prepare_workers(sklearn=True)
    load_code(plugin, allow, dataset, name, protocol)
    from graphtrial.studies import ModelEntry, Study

    chosen = parse_settings(settings or [])
    if h is not None:
        chosen["h"] = h
    study = Study(
        f"{name} on {dataset}",
        dataset,
        (ModelEntry(name, chosen),),
        protocol=protocol or ("tudataset/kernel-linear" if linear else "tudataset/kernel-svm"),
        seeds=repetitions,
        splits=folds,
        rules=parse_settings(rules or []),
    )
    run_and_show(study, store, workers, json, executor, track)
