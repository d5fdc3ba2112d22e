"""`graphtrial params`: how many parameters a model has."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.table import Table

from graphtrial.cli.common import Json, Plugins, friendly, load_plugins, out, parse_settings, print_json
from graphtrial.errors import GraphTrialError


@friendly
def params(
    dataset: Annotated[str | None, typer.Argument(help="A dataset.")] = None,
    model: Annotated[str | None, typer.Argument(help="A model.")] = None,
    encoding: Annotated[str, typer.Option(help="A positional encoding, such as laplacian:20.")] = "none",
    layers: Annotated[int | None, typer.Option(min=1, help="Depth; the published one by default.")] = None,
    width: Annotated[int | None, typer.Option(min=1, help="Width; the published one by default.")] = None,
    budget: Annotated[str | None, typer.Option(help="Widest model within so many parameters, such as 100k.")] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="Any setting of the model: key=value.")] = None,
    plugin: Plugins = None,
    json: Json = False,
) -> None:
    """Count the parameters of a model, part by part.

    Example: graphtrial params zinc gcn --budget 500k --layers 16
    """
    load_plugins(plugin)
    if dataset is None or model is None:
        raise GraphTrialError(
            "name a dataset and a model, for example `graphtrial params zinc gcn`, or use --published"
        )
    given = parse_settings(settings or [])
    given |= {key: value for key, value in (("layers", layers), ("width", width)) if value is not None}
    _count(dataset, model, encoding, given, budget, json)


def _count(dataset: str, model: str, encoding: str, given: dict[str, Any], budget: str | None, json: bool) -> None:
    from graphtrial.datasets import load
    from graphtrial.nn import build_model, count_parameters, resolve_settings
    from graphtrial.published.shapes import published_shapes
    from graphtrial.studies import Row
    from graphtrial.studies.study import choose_settings, parse_encoding
    from graphtrial.studies.trial import make_encoding, shapes_for

    component = parse_encoding(encoding)
    positions = make_encoding(component)
    shapes = published_shapes(dataset, positions.width if positions else 0) or shapes_for(load(dataset), positions)
    chosen = resolve_settings(model, choose_settings(dataset, shapes, Row(model, given, budget=budget), component))
    built = build_model(model, shapes, chosen)
    parts = {name: count_parameters(part) for name, part in built.named_children()}
    loose = sum(p.numel() for p in built.parameters(recurse=False) if p.requires_grad)
    if loose:
        parts["own"] = loose
    total = count_parameters(built)
    if json:
        print_json({"dataset": dataset, "model": model, "settings": chosen, "parts": parts, "params": total})
        return
    out.print(f"{model} on {dataset}: " + ", ".join(f"{key} {value}" for key, value in chosen.items()))
    table = Table("part", "parameters")
    for name, count in parts.items():
        table.add_row(name, str(count))
    table.add_row("total", str(total), style="bold")
    out.print(table)
