"""Display names of datasets, models, encodings, trials and rows, and the settings that distinguish similar rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from graphtrial.core.spec import Component, format_value
from graphtrial.datasets import DATASETS
from graphtrial.encodings import ENCODINGS
from graphtrial.encodings.notation import USUAL, parts_of, short_encoding
from graphtrial.results.rows import TUNED, ResultRow
from graphtrial.trials.trial import TrialSpec

if TYPE_CHECKING:
    from graphtrial.trials.store import TrialRecord


def dataset_title(name: str) -> str:
    """Return the display name of a dataset, such as `CSL`."""
    return DATASETS.title(name)


def model_title(spec: TrialSpec) -> str:
    """Return the display name of the model, kernel or support vector machine of a trial, such as `GatedGCN`."""
    return spec.kind.title(spec.model.name)


def encoding_title(encoding: Component | None) -> str:
    """Return an encoding in words: `Laplacian 20`, `Laplacian 20, fixed sign`; empty where there is none.

    Several are abbreviated: `RWSE-20 + LapPE-8 (fixed sign)`.
    """
    parts = [part for part, _ in parts_of(encoding)]
    if len(parts) != 1:
        return " + ".join(map(_abbreviation, parts))
    size, others = _words(parts[0])
    return ", ".join([f"{ENCODINGS.title(parts[0].name)} {size}".strip(), *others])


def _abbreviation(encoding: Component) -> str:
    abbreviated = encoding.name in ENCODINGS and ENCODINGS.get(encoding.name).abbreviation
    size, others = _words(encoding)
    text = "-".join(filter(None, [abbreviated or ENCODINGS.title(encoding.name), size]))
    return f"{text} ({', '.join(others)})" if others else text


def _words(encoding: Component) -> tuple[str, list[str]]:
    """Return the first argument of an encoding, and the others that are not usual in words."""
    first, *rest = encoding.arguments.items() or [("", "")]
    return format_value(first[1]), [f"{format_value(value)} {key}" for key, value in rest if USUAL.get(key) != value]


def trial_title(trial: TrialRecord) -> str:
    """Return a trial in short: `csl gcn laplacian:20 split 0 seed 41`."""
    spec = trial.spec
    encoding = "" if spec.encoding is None else f" {short_encoding(spec.encoding)}"
    return f"{spec.dataset} {spec.model.name}{encoding} split {spec.split} seed {spec.seed}"


def label_title(row: ResultRow) -> str:
    """Return the model of a row as the papers write it: `GatedGCN-E`, where -E marks edge features of the dataset."""
    spec = row.first.spec
    return model_title(spec) + row.label.removeprefix(spec.model.name)


def row_title(row: ResultRow, *, with_depth: bool = True) -> str:
    """Return a row in words: `GatedGCN-E, Laplacian 8, L = 16`, and the settings that distinguish it."""
    layers = row.setting("layers")
    depth = f"L = {layers}" if layers and with_depth else ""
    return ", ".join(filter(None, [label_title(row), encoding_title(row.first.spec.encoding), depth, row.differs_in]))


def distinguishing_settings(rows: Sequence[ResultRow]) -> list[str]:
    """Return for each row what distinguishes it from others of the same table, model, encoding and depth.

    `tuned` where there was a search, and settings such as `first_activation = false`: of the model where these differ,
    else of the training, else of the data. A setting of the model is stated by all rows of this model in the table:
    one of another encoding would seem to have the default. Empty for a unique row.
    """
    similar: dict[tuple[str, ...], list[int]] = {}
    for place, row in enumerate(rows):
        similar.setdefault((*_table_and_model(row), row.name), []).append(place)
    of_model: dict[tuple[str, ...], dict[str, None]] = {}
    others = [""] * len(rows)
    for (*model, _), places in similar.items():
        group = [rows[place] for place in places]
        keys = differing(group, _of_model)
        of_model.setdefault(tuple(model), {}).update(dict.fromkeys(keys))
        if not keys:
            settings = _of_training if differing(group, _of_training) else _of_data
            keys = differing(group, settings)
            for place, row in zip(places, group, strict=True):
                others[place] = _stated(settings(row), keys)
    return [
        ", ".join(filter(None, [tuned_title(row), _stated(_of_model(row), of_model[_table_and_model(row)]), other]))
        for row, other in zip(rows, others, strict=True)
    ]


def _table_and_model(row: ResultRow) -> tuple[str, ...]:
    spec = row.first.spec
    return spec.dataset, spec.protocol, row.changes, row.label


def tuned_title(row: ResultRow) -> str:
    """Return `tuned` for a row with a search behind it, else nothing."""
    return "" if row.tuning is None else TUNED


def differing(rows: Sequence[ResultRow], settings: Callable[[ResultRow], dict[str, Any]]) -> list[str]:
    """Return the keys of `settings` whose values are not the same for all rows."""
    values_of = [settings(row) for row in rows] if len(rows) > 1 else []
    keys = dict.fromkeys(key for values in values_of for key in values)
    return [key for key in keys if len({repr(values.get(key)) for values in values_of}) > 1]


def _stated(values: dict[str, Any], keys: Iterable[str]) -> str:
    return ", ".join(f"{key} = {format_value(values[key])}" for key in keys if key in values)


def _of_model(row: ResultRow) -> dict[str, Any]:
    parts = parts_of(row.first.spec.encoding)
    settings = {key: value for key, value in row.first.spec.settings.items() if key not in row.selected}
    return settings | {f"{part.name} {key}": value for part, _ in parts for key, value in part.arguments.items()}


def _of_training(row: ResultRow) -> dict[str, Any]:
    return row.first.spec.rules.flat()


def _of_data(row: ResultRow) -> dict[str, Any]:
    spec = row.first.spec
    return {
        "data": spec.data[:12],
        "plug-ins": ", ".join(f"{name} {str(spec.plugins[name])[:8]}" for name in spec.plugins),
    }
