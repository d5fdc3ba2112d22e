"""`graphtrial list`: registered datasets, models, encodings and so on."""

from __future__ import annotations

import json as json_text
import math
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from graphtrial.cli.common import Allowed, Json, Plugins, StorePath, friendly, load_code, names, out, print_json
from graphtrial.cli.studies import machine_factor, scaled_entries, show_studies, study_entries
from graphtrial.core.errors import GraphTrialError, did_you_mean
from graphtrial.core.files import DEFAULT_STORE, cache_home, custom_home
from graphtrial.core.index import indexed
from graphtrial.core.plugins.entry_points import not_allowed as withheld
from graphtrial.core.terminal import TableColumn, TerminalTable

KINDS = (
    *("datasets", "models", "encodings", "kernels", "protocols", "optimizers", "schedules", "stopping"),
    *("tasks", "metrics", "studies"),
)
"""What can be listed: registries by their plural, and the studies of the catalog."""


def _complete_kind(incomplete: str) -> list[str]:
    return [kind for kind in KINDS if kind.startswith(incomplete)]


@friendly
def list_things(
    kind: Annotated[
        str, typer.Argument(help=f"{', '.join(KINDS[:-1])} or {KINDS[-1]}.", autocompletion=_complete_kind)
    ],
    plugin: Plugins = None,
    allow: Allowed = None,
    estimate: Annotated[
        bool,
        typer.Option("--estimate", help="studies: time a few batches of every untimed model; needs prepared data."),
    ] = False,
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="studies: measure the speed of this machine, ten seconds, if unknown.")
    ] = False,
    only: Annotated[str, typer.Option(help="studies: prefixes of names, such as bgnn-v5,tudataset/table-1.")] = "",
    store: StorePath = DEFAULT_STORE,
    json: Json = False,
) -> None:
    """List registered datasets, models, encodings, protocols, studies and so on.

    Example: graphtrial list models
    """
    if kind not in KINDS:
        raise GraphTrialError(f"cannot list '{kind}'.{did_you_mean(kind, KINDS)} Use {', '.join(KINDS)}.")
    entries, factor = None, None
    if kind == "studies":
        factor = machine_factor(calibrate_now=calibrate or estimate)
    if not plugin and not allow and not (kind == "studies" and (estimate or only or _has_results(store))):
        entries = _indexed_entries(kind)
        entries = scaled_entries(entries, factor) if entries is not None and kind == "studies" else entries
    if entries is None:
        load_code(plugin, allow)
        if kind == "studies":
            entries = study_entries(store, estimate=estimate, only=names(only), factor=factor)
        else:
            entries = LISTINGS[kind]()
    not_allowed = {} if kind == "studies" else withheld(kind, {entry["name"] for entry in entries})
    if json:
        empty = dict.fromkeys(entries[0]) if entries else {}
        others = [{**empty, "name": name, "withheld": target} for name, target in not_allowed.items()]
        print_json([*entries, *others])  # a new list: that of the index is shared
        return
    if kind == "studies":
        show_studies(entries, factor)
        return
    entries = [_in_table(entry) for entry in entries]
    table = TerminalTable(
        *(TableColumn(key.replace("_", " "), _is_numeric(key, entries), rigid=key == "name") for key in entries[0])
    )
    for entry in entries:
        cells = (
            each if isinstance(each, str) else json_text.dumps(each, ensure_ascii=False) for each in entry.values()
        )
        table.add_row(*cells)
    out.print(table)
    for name, target in not_allowed.items():
        out.print(f"not loaded: {name}, {target} of an installed package; --allow {name} loads it", soft_wrap=True)


def _in_table(entry: dict[str, Any]) -> dict[str, Any]:
    """Return an entry without the column `kernel_rules`, which few protocols have: they stand among the exceptions."""
    rest = {key: value for key, value in entry.items() if key != "kernel_rules"}
    rules = entry.get("kernel_rules")
    return rest if rules is None else {**rest, "exceptions": {"kernels": rules, **rest["exceptions"]}}


def _is_numeric(key: str, entries: list[dict[str, Any]]) -> bool:
    values = [entry[key] for entry in entries if entry[key] is not None]
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def _indexed_entries(kind: str) -> list[dict[str, Any]] | None:
    """Return the entries of the generated index, which needs no import; `None` where there may be others."""
    if (kind == "kernels" and find_spec("sklearn") is None) or (
        kind == "datasets" and any(custom_home().glob("*.json"))
    ):
        return None
    entries = indexed(kind)
    return None if entries is None else entries.entries


def _has_results(store: Path) -> bool:
    """Return whether trials or timings of this machine change the progress of studies."""
    return store.exists() or any((cache_home() / "timings").glob("*.json"))


def _first_line(thing: Any) -> str:
    doc = getattr(thing, "__doc__", None)
    return doc.strip().partition("\n")[0] if isinstance(doc, str) else ""


def _datasets() -> list[dict[str, Any]]:
    from graphtrial.datasets import DATASETS
    from graphtrial.datasets.custom import names as own_names

    return [
        {
            "name": name,
            "task": kind.task.name if kind.task else None,
            "metric": kind.task.metric.title if kind.task else None,
            "graphs": kind.published.graphs if kind.published else None,
            "title": _first_line(kind),
        }
        for name, kind in ((name, DATASETS.get(name)) for name in sorted({*DATASETS, *own_names()}))
    ]


def _models() -> list[dict[str, Any]]:
    from graphtrial.nn import MODELS, model_settings

    return [{"name": name, "title": _first_line(MODELS.get(name)), "settings": model_settings(name)} for name in MODELS]


def _encodings() -> list[dict[str, Any]]:
    from graphtrial.core.signatures import declared_arguments
    from graphtrial.encodings import ENCODINGS

    return [
        {
            "name": name,
            "title": _first_line(ENCODINGS.get(name)),
            "settings": list(declared_arguments(ENCODINGS.get(name))),
        }
        for name in ENCODINGS
    ]


def _kernels() -> list[dict[str, Any]]:
    from graphtrial.core.signatures import declared_arguments
    from graphtrial.kernels import KERNELS

    return [
        {"name": name, "title": _first_line(kind), "settings": list(declared_arguments(kind))}
        for name, kind in ((name, KERNELS.get(name)) for name in KERNELS)
    ]


def _protocols() -> list[dict[str, Any]]:
    from graphtrial.training import PROTOCOLS

    protocols = [PROTOCOLS.get(name) for name in PROTOCOLS]
    return [
        {
            "name": p.name,
            "version": p.version,
            "seeds": len(p.seeds),
            "splits": p.splits,
            "rules": p.rules.summary(),
            "kernel_rules": p.kernel_rules.summary() if p.kernel_rules else None,
            "exceptions": p.exceptions,
        }
        for p in protocols
    ]


def _components(kind: str) -> list[dict[str, Any]]:
    from graphtrial.core.plugins.registries import registries
    from graphtrial.core.signatures import declared_arguments

    registry = registries()[kind]
    return [
        {
            "name": name,
            "title": _first_line(registry.get(name)),
            "settings": {
                key: None if p.default is p.empty else p.default
                for key, p in declared_arguments(registry.get(name)).items()
            },
        }
        for name in registry
    ]


def _tasks() -> list[dict[str, Any]]:
    from graphtrial.core.signatures import declared_arguments
    from graphtrial.tasks import TASKS

    return [
        {
            "name": name,
            "level": kind.level,
            "metric": getattr(declared_arguments(kind).get("metric"), "default", None),
            "settings": list(declared_arguments(kind)),
            "title": _first_line(kind),
        }
        for name, kind in ((name, TASKS.get(name)) for name in TASKS)
    ]


def _metrics() -> list[dict[str, Any]]:
    from graphtrial.metrics import METRICS

    return [
        {
            "name": name,
            "printed_as": kind.title,
            "unit": kind.unit,
            "range": [bound if math.isfinite(bound) else None for bound in kind.range],
            "higher_is_better": kind.higher_is_better,
            "title": _first_line(kind),
        }
        for name, kind in ((name, METRICS.get(name)) for name in METRICS)
    ]


LISTINGS: dict[str, Callable[[], list[dict[str, Any]]]] = {
    "datasets": _datasets,
    "models": _models,
    "encodings": _encodings,
    "kernels": _kernels,
    "protocols": _protocols,
    "optimizers": lambda: _components("optimizer"),
    "schedules": lambda: _components("schedule"),
    "stopping": lambda: _components("stopping rule"),
    "tasks": _tasks,
    "metrics": _metrics,
}
