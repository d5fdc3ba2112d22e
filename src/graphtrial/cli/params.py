"""`graphtrial params`: parameter counts of models, and comparison with published ones."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from graphtrial.cli.common import (
    Allowed,
    EdgeFeatures,
    Edition,
    EncodingText,
    Json,
    ModelSettings,
    ParameterBudget,
    Plugins,
    friendly,
    load_code,
    out,
    parse_settings,
    print_json,
)
from graphtrial.cli.completion import complete_dataset, complete_model, complete_protocol
from graphtrial.cli.failures import say
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.terminal import TableColumn, TerminalTable

if TYPE_CHECKING:
    from graphtrial.studies import Study


@friendly
def params(
    dataset: Annotated[str | None, typer.Argument(help="A dataset.", autocompletion=complete_dataset)] = None,
    model: Annotated[str | None, typer.Argument(help="A model.", autocompletion=complete_model)] = None,
    encoding: EncodingText = "none",
    layers: Annotated[int | None, typer.Option(min=1, help="Depth; the published one by default.")] = None,
    width: Annotated[int | None, typer.Option(min=1, help="Width; the published one by default.")] = None,
    budget: ParameterBudget = None,
    edge_features: EdgeFeatures = False,
    settings: ModelSettings = None,
    protocol: Annotated[
        str | None,
        typer.Option(help="Take the sizes released for this protocol.", autocompletion=complete_protocol),
    ] = None,
    edition: Edition = "sound",
    published: Annotated[
        bool, typer.Option("--published", help="Compare with every published parameter count.")
    ] = False,
    plugin: Plugins = None,
    allow: Allowed = None,
    json: Json = False,
) -> None:
    """Count the parameters of a model by module, or compare with all published counts.

    Example: graphtrial params zinc gcn --budget 500k --layers 16
    """
    from graphtrial.encodings.notation import encoding_names
    from graphtrial.studies import ModelEntry, Study
    from graphtrial.studies.edition import in_edition

    load_code(plugin, allow, dataset, model, *encoding_names(encoding), protocol)
    if published:
        if dataset is not None:
            raise GraphTrialError("--published checks all datasets and models; leave their names out")
        _published(json)
        return
    if dataset is None or model is None:
        raise GraphTrialError(
            "name a dataset and a model, for example `graphtrial params zinc gcn`, or use --published"
        )
    chosen = parse_settings(settings or [])
    chosen |= {key: value for key, value in (("layers", layers), ("width", width)) if value is not None}
    if edge_features:
        chosen["edge_features"] = True
    row = ModelEntry(model, chosen, (encoding,), budget, released=protocol is not None)
    _count(in_edition(Study(model, dataset, (row,), protocol=protocol), edition), json)


def _count(study: Study, json: bool) -> None:
    from graphtrial.nn import build_model, count_parameters, parse_budget, resolve_settings
    from graphtrial.results.departures import SIZE_TOLERANCE
    from graphtrial.studies.check import check_row
    from graphtrial.studies.one_model import shapes_and_settings
    from graphtrial.trials.shapes import planned_shapes

    (dataset,), (row,) = study.datasets, study.rows
    model = row.model
    check_row(row)
    shapes, chosen = shapes_and_settings(study, partial(planned_shapes, dataset))
    resolved = resolve_settings(model, chosen)
    built = build_model(model, shapes, resolved)
    parts = {name: count_parameters(part) for name, part in built.named_children()}
    direct = sum(p.numel() for p in built.parameters(recurse=False) if p.requires_grad)
    if direct:
        parts["own"] = direct
    total = count_parameters(built)
    if json:
        print_json({"dataset": dataset, "model": model, "settings": resolved, "parts": parts, "params": total})
        return
    out.print(f"{model} on {dataset}: " + ", ".join(f"{key} {value}" for key, value in resolved.items()))
    table = TerminalTable(TableColumn("module"), TableColumn("parameters", numeric=True))
    for name, count in parts.items():
        table.add_row(name, str(count))
    table.add_row("total", str(total), style="bold")
    out.print(table)
    if row.budget is not None and total < (1 - SIZE_TOLERANCE) * parse_budget(row.budget):
        say(
            f"this is {1 - total / parse_budget(row.budget):.0%} less than the budget, which the next width exceeds; "
            "for comparisons at equal size choose other settings, such as fewer heads or layers"
        )


def _published(json: bool) -> None:
    from dataclasses import asdict

    from graphtrial.published.counts import parameter_checks

    checks = parameter_checks()
    if json:
        print_json([asdict(check) for check in checks])
        return
    texts = [TableColumn("paper", priority=2), TableColumn("table or file", priority=1)]
    texts += [TableColumn(heading) for heading in ("dataset", "model", "variant")]
    counts = [TableColumn(heading, numeric=True) for heading in ("layers", "published", "built")]
    table = TerminalTable(*texts, *counts, TableColumn("reason"))
    for check in checks:
        variant = ", ".join(f"{key} {value}" for key, value in check.variant.items())
        numbers = tuple("" if count is None else str(count) for count in (check.published, check.built))
        cells = (check.paper, str(check.table), check.dataset, check.model, variant, str(check.layers or ""), *numbers)
        table.add_row(*cells, "" if check.match else check.reason or "", style="" if check.match else "yellow")
    out.print(table)
    matching, counted = (
        sum(flags) for flags in zip(*((c.match, c.published is not None) for c in checks), strict=True)
    )
    out.print(
        f"{matching} of {counted} published parameter counts are equal; the others have a reason, and so have "
        f"{len(checks) - counted} released configurations without a count."
    )
