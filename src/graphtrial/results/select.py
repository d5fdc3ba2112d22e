"""Select rows of a store by study, dataset or name, and sort them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from graphtrial.core.errors import GraphTrialError, did_you_mean
from graphtrial.core.spec import format_value, parse_value
from graphtrial.encodings.notation import JOINED, split_encodings
from graphtrial.results.grouping import result_rows
from graphtrial.results.rows import TUNED, ResultRow, ResultRows
from graphtrial.results.titles import differing, label_title
from graphtrial.studies import catalog, load_study
from graphtrial.trials.store import Store
from graphtrial.trials.store.searches import load_searches
from graphtrial.tuning.of_study import study_searches


def opened(store: Store | Path | str) -> Store:
    """Return a store, opened for reading where it is given by its path."""
    return store if isinstance(store, Store) else Store(store, read_only=True)


def stored_rows(store: Store) -> ResultRows:
    """Return all rows of a store, with the cost of the searches behind tuned ones."""
    return result_rows(store.trials(), load_searches(store))


def rows_of(store: Store, table: str) -> list[ResultRow]:
    """Return the rows in the store of a study (by name or file), of a dataset, or of `all`."""
    records, searches = store.trials(), load_searches(store)
    datasets = list(dict.fromkeys(record.spec.dataset for record in records))
    if table == "all":
        return best_first(result_rows(records, searches))
    if table in datasets:
        return best_first(result_rows([record for record in records if record.spec.dataset == table], searches))
    studies = catalog()
    if table not in studies and not table.endswith(".toml"):
        raise GraphTrialError(
            f"no study or dataset called '{table}' has results in {store.path}."
            f"{did_you_mean(table, [*datasets, *studies])} It has results on {', '.join(datasets) or 'nothing'}."
        )
    study = load_study(table)
    chosen = study_searches(study, searches)
    planned = [*(trial.id for trial in study.trials()), *(test for search in chosen for test in search.tests)]
    order = {trial: place for place, trial in enumerate(planned)}
    selected = sorted((record for record in records if record.id in order), key=lambda record: order[record.id])
    if not selected:
        raise GraphTrialError(f"no trial of {table} is in {store.path} yet; `graphtrial study {table}` runs them")
    return result_rows(selected, searches)


def of_protocol(rows: Iterable[ResultRow], wanted: str) -> ResultRows:
    """Return the rows of a protocol, or of a family of protocols such as `bgnn-v5`."""
    named = [(row.first.spec.protocol.partition("@")[0], row) for row in rows]
    selected = ResultRows(row for name, row in named if name == wanted or name.startswith(f"{wanted}/"))
    if not selected:
        protocols = list(dict.fromkeys(name for name, _ in named))
        raise GraphTrialError(
            f"no row has the protocol '{wanted}'.{did_you_mean(wanted, protocols)} The protocols are "
            f"{', '.join(protocols) or 'none'}; the first part of a name selects a family."
        )
    return selected


def best_first(rows: Iterable[ResultRow]) -> list[ResultRow]:
    """Sort rows by dataset and protocol, departures last, then by test score, the best first.

    Rows without a score come last. The order depends on the results alone, not on start times or the order of the
    store.
    """
    return sorted(rows, key=_sort_key)


def matches(row: ResultRow, name: str) -> bool:
    """Whether a row matches a name: `model`, `model/encoding` or `model/setting=value`, in any order after the model.

    The model is a registered name, a label such as `gatedgcn-E`, a display name, or the last word of a path such as
    `PNA` of `torch_geometric.nn.models:PNA`; settings that are not named may have any value. Training rules are named
    as settings are, such as `stopping.max_epochs=60`. `tuned` and `untuned` select rows with and without a search.
    """
    model, *rest = name.split("/")
    spec = row.first.spec
    arguments, name = {**spec.rules.flat(), **spec.settings}, spec.model.name
    if model not in (name, name.rpartition(":")[2], row.label, label_title(row)):
        return False
    for part in rest:
        key, equals, value = part.partition("=")
        if part in (TUNED, f"un{TUNED}"):
            if (row.tuning is not None) != (part == TUNED):
                return False
        elif equals and ":" not in key:
            typed = (format_value(arguments[key]), row.setting(key)) if key in arguments else ()
            if not (value in typed or (typed and arguments[key] == parse_value(value))):
                return False
        elif JOINED.join(split_encodings(part)) != row.encoding:
            return False
    return True


def distinct_names(rows: Iterable[ResultRow]) -> list[str]:
    """Return names by which `matches` tells rows apart: with a search or without, by settings, then by rules."""
    similar: dict[str, list[ResultRow]] = {}
    for row in rows:
        similar.setdefault(row.name, []).append(row)
    return [name for several in similar.values() for name in _with_settings(several)]


def _with_settings(rows: list[ResultRow]) -> list[str]:
    names = [row.name for row in rows]
    parts: list[Callable[[ResultRow], dict[str, Any]]] = [_tuned, lambda row: row.settings, _rules]
    for settings in parts:
        if len(set(names)) == len(rows):
            break
        keys = differing(rows, settings)
        words = [[_word(key, settings(row)[key]) for key in keys if key in settings(row)] for row in rows]
        names = ["/".join([name, *added]) for name, added in zip(names, words, strict=True)]
    return names


def _tuned(row: ResultRow) -> dict[str, Any]:
    return {TUNED: row.tuning is not None}


def _rules(row: ResultRow) -> dict[str, Any]:
    return row.first.spec.rules.flat()


def _word(key: str, value: Any) -> str:
    return (TUNED if value else f"un{TUNED}") if key == TUNED else f"{key}={format_value(value)}"


def _sort_key(row: ResultRow) -> tuple[str, str, str, bool, str, float, str, str]:
    spec, test = row.first.spec, row.scores("test")
    badness = math.inf if test is None else -test.mean if row.first.higher_is_better else test.mean
    other_data = any(departure.badge == "other data" for departure in row.departures)
    return spec.dataset, spec.protocol, row.changes, other_data, spec.data, badness, row.name, row.id
