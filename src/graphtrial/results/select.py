"""Select rows of a store by study, dataset or name, and sort them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

from graphtrial.core.errors import GraphTrialError, did_you_mean
from graphtrial.core.spec import parse_value
from graphtrial.encodings.notation import JOINED, split_encodings
from graphtrial.results.grouping import result_rows
from graphtrial.results.rows import TUNED, ResultRow, ResultRows
from graphtrial.results.titles import label_title
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


def best_first(rows: Iterable[ResultRow]) -> list[ResultRow]:
    """Sort rows by dataset and protocol, departures last, then by test score, the best first.

    Rows without a score come last. The order depends on the results alone, not on start times or the order of the
    store.
    """
    return sorted(rows, key=_sort_key)


def matches(row: ResultRow, name: str) -> bool:
    """Whether a row matches a name: `model`, `model/encoding` or `model/setting=value`, in any order after the model.

    The model is a registered name, a label such as `gatedgcn-E`, a display name, or the last word of a path such as
    `PNA` of `torch_geometric.nn.models:PNA`; settings that are not named may have any value. `tuned` and `untuned`
    select rows with and without a search behind them.
    """
    model, *rest = name.split("/")
    arguments = row.first.spec.settings
    name = row.first.spec.model.name
    if model not in (name, name.rpartition(":")[2], row.label, label_title(row)):
        return False
    for part in rest:
        key, equals, value = part.partition("=")
        if part in (TUNED, f"un{TUNED}"):
            if (row.tuning is not None) != (part == TUNED):
                return False
        elif equals and ":" not in key:
            if key not in arguments or (arguments[key] != parse_value(value) and row.setting(key) != value):
                return False
        elif JOINED.join(split_encodings(part)) != row.encoding:
            return False
    return True


def _sort_key(row: ResultRow) -> tuple[str, str, str, bool, str, float, str, str]:
    spec, test = row.first.spec, row.scores("test")
    badness = math.inf if test is None else -test.mean if row.first.higher_is_better else test.mean
    other_data = any(departure.badge == "other data" for departure in row.departures)
    return spec.dataset, spec.protocol, row.changes, other_data, spec.data, badness, row.name, row.id
