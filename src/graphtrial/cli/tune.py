"""`graphtrial tune`: search for a configuration under a budget, and test the best one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from graphtrial.cli.common import (
    Allowed,
    ChangedRules,
    Compile,
    Device,
    EncodingText,
    ExecutorText,
    Json,
    MaxEpochs,
    ModelSettings,
    PerDevice,
    Plugins,
    Precision,
    ProtocolName,
    StorePath,
    Threads,
    Workers,
    err,
    friendly,
    load_code,
    out,
    parse_rules,
    parse_settings,
    print_json,
)
from graphtrial.cli.completion import complete_dataset, complete_model
from graphtrial.cli.run import Seeds, Splits, Track
from graphtrial.cli.running import chosen_executor, exit_on_failures, resumable, show_records
from graphtrial.core.files import DEFAULT_STORE
from graphtrial.core.hardware.compute import Compute
from graphtrial.core.parallel import prepare_workers
from graphtrial.core.terminal import TableColumn, TerminalTable

if TYPE_CHECKING:
    from graphtrial.execution import Executor
    from graphtrial.trials import Store
    from graphtrial.tuning.declaration import Tuning
    from graphtrial.tuning.tune import Tuned


@friendly
def tune(
    dataset: Annotated[str, typer.Argument(help="A dataset, such as csl or zinc.", autocompletion=complete_dataset)],
    model: Annotated[
        str, typer.Argument(help="A model, such as gcn, or module:attribute.", autocompletion=complete_model)
    ],
    budget: Annotated[str, typer.Option(help="Tuning budget, what the search may spend: 60trials, 3000epochs or 4h.")],
    space: Annotated[str, typer.Option(help="A TOML file, or a shipped space; that of the model by default.")] = (
        "default"
    ),
    search: Annotated[str, typer.Option(help="random, tpe, grid or halving.")] = "random",
    params: Annotated[
        str | None,
        typer.Option(help="Parameter budget, such as 100k: the width follows from it. In run also --budget."),
    ] = None,
    seeds: Seeds = None,
    splits: Splits = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the proposals.")] = 0,
    tuning_seeds: Annotated[int, typer.Option(min=1, help="Seeds of every configuration in the search.")] = 1,
    tuning_splits: Annotated[int, typer.Option(min=1, help="Splits of every configuration in the search.")] = 1,
    lag: Annotated[
        int, typer.Option(min=1, help="Configurations at once: number k depends on the results 0 to k - lag.")
    ] = 4,
    eta: Annotated[int, typer.Option(min=2, help="Successive halving promotes one in eta configurations.")] = 3,
    encoding: EncodingText = "none",
    settings: ModelSettings = None,
    protocol: ProtocolName = None,
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
    """Tune a model on the validation part under a budget, then train and test the best configuration afresh.

    Example: graphtrial tune csl gin --budget 20trials --params 20k --encoding laplacian:20 --seeds 4
    """
    compute = Compute(device, threads, per_device, compile)
    if workers != 0 and executor is None:
        prepare_workers()
    from graphtrial.encodings.notation import encoding_names

    load_code(plugin, allow, dataset, model, *encoding_names(encoding), protocol)
    from graphtrial.studies.tune_options import TuneOptions
    from graphtrial.trials import Store
    from graphtrial.tuning.declaration import declare_searches
    from graphtrial.tuning.space_files import load_space
    from graphtrial.tuning.subject import Subject

    chosen = chosen_executor(executor, workers, compute)
    changed = parse_rules(rules or [], max_epochs, precision)
    options = TuneOptions(budget, space, search, seed, tuning_seeds, tuning_splits, lag, eta)
    subject = Subject(dataset, model, parse_settings(settings or []), encoding, params, protocol, changed)
    tunings = declare_searches(subject, load_space(space, model), options, seeds, splits)
    opened = Store(store)
    with resumable(lambda: f"{sum(record.is_finished for record in opened.trials())} trials of this store"):
        results = list(run_tunings(tunings, opened, workers, chosen, track, compute, quiet=json))
    if json:
        from graphtrial.api.tuning import tested_row

        searches = [tuned.to_dict() for tuned in results]
        facts = {"folds": searches} if tunings[0].fold is not None else searches[0]
        print_json({**facts, "row": tested_row(results, opened).to_dict()})
        exit_on_failures([test for tuned in results for test in tuned.tests])
    else:
        show_records([test for tuned in results for test in tuned.tests], opened, json=False, single=True)


def run_tunings(
    tunings: Sequence[Tuning],
    store: Store,
    workers: int | None,
    executor: Executor | None,
    track: str | None,
    compute: Compute,
    *,
    quiet: bool,
) -> Iterator[Tuned]:
    """Run searches with progress and yield their results; unless quiet, print their configurations."""
    from graphtrial.cli.progress import shown_progress
    from graphtrial.tracking import tracked
    from graphtrial.tuning.tune import tune as run_tuning

    for warning in dict.fromkeys(tuning.leak for tuning in tunings if tuning.leak):
        err.print(f"graphtrial: warning: {warning}", markup=False, soft_wrap=True)
    for tuning in tunings:
        with shown_progress(None, 0, quiet=quiet) as shown, tracked(track, store, shown) as listener:
            tuned = run_tuning(tuning, store, workers=workers, listener=listener, executor=executor, compute=compute)
        if not quiet:
            _show(tuned)
        yield tuned


def _show(tuned: Tuned) -> None:
    """Print the configurations of a search, the best first, and the chosen one."""
    tuning = tuned.tuning
    fold = "" if tuning.fold is None else f", fold {tuning.fold}"
    names = [parameter.name for parameter in tuning.space]
    width = [] if "width" in names else ["width"]
    table = TerminalTable(
        TableColumn("#", numeric=True),
        *(TableColumn(name) for name in names),
        *(TableColumn(heading, numeric=True) for heading in (*width, "Validation", "#Epoch")),
        TableColumn("Status"),
        title=f"{tuning.subject.model} on {tuning.subject.dataset}{fold}: {tuning.options.search} search, "
        f"{tuning.budget}",
        caption="Validation: mean score over the tuning seeds and splits; no test score is computed in a search.",
    )
    for number in sorted(range(len(tuned.results)), key=lambda each: (tuned.results[each].loss, each)):
        proposal, result = tuned.proposals[number], tuned.results[number]
        table.add_row(
            str(number),
            *(str(proposal.point.get(name, "-")) for name in names),
            *(str(proposal.configuration.settings.get(name, "-")) for name in width),
            "-" if result.score is None else f"{result.score:.4g}",
            str(result.epochs),
            ", ".join(dict.fromkeys(result.statuses)),
        )
    out.print(table)
    chosen = ", ".join(f"{name} = {value}" for name, value in tuned.chosen.point.items())
    spent = sum(result.epochs for result in tuned.results), sum(result.core_seconds for result in tuned.results) / 3600
    out.print(
        f"chosen: number {tuned.winner} ({chosen}) of {len(tuned.results)} configurations, after {spent[0]} epochs and "
        f"{spent[1]:.2g} core-hours",
        markup=False,
        soft_wrap=True,
    )
