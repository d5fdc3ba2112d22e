"""Which rows of a store a table is made of, and in which order."""

from __future__ import annotations

import math
from collections.abc import Iterable

from graphtrial.core.errors import GraphTrialError, did_you_mean
from graphtrial.results.rows import ResultRow, result_rows
from graphtrial.studies import catalog, load_study
from graphtrial.trials.store import Store


def rows_of(store: Store, table: str) -> list[ResultRow]:
    """Return the rows of a study (by name or file), of a dataset, or `all`, as far as the store has them."""
    records = store.trials()
    datasets = list(dict.fromkeys(record.spec.dataset for record in records))
    if table == "all":
        return best_first(result_rows(records))
    if table in datasets:
        return best_first(result_rows([record for record in records if record.spec.dataset == table]))
    studies = catalog()
    if table not in studies and not table.endswith(".toml"):
        raise GraphTrialError(
            f"no study or dataset called '{table}' has results in {store.path}."
            f"{did_you_mean(table, [*datasets, *studies])} It has results on {', '.join(datasets) or 'nothing'}."
        )
    order = {trial.id: place for place, trial in enumerate(load_study(table).trials())}
    found = sorted((record for record in records if record.id in order), key=lambda record: order[record.id])
    if not found:
        raise GraphTrialError(f"no trial of {table} is in {store.path} yet; `graphtrial study {table}` runs them")
    return result_rows(found)


def best_first(rows: Iterable[ResultRow]) -> list[ResultRow]:
    """Return rows as a reader looks for them: by dataset and rules, departures last, then by test score.

    Rows without a score come last. The order depends on the results alone, not on when they were made or in which
    order a store tells them.
    """
    return sorted(rows, key=_place)


def _place(row: ResultRow) -> tuple[str, str, str, bool, str, float, str, str]:
    spec, test = row.first.spec, row.scores("test")
    behind = math.inf if test is None else -test.mean if row.first.higher_is_better else test.mean
    other_data = any(departure.badge == "other data" for departure in row.departures)
    return spec.dataset, spec.protocol, row.changes, other_data, spec.data, behind, row.name, row.id
