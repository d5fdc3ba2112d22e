"""Group the trials of a store into result rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from graphtrial.core.spec import canonical_json
from graphtrial.published import PublishedResult, find_published
from graphtrial.results.model_selection import select_trials, shared_specification
from graphtrial.results.nested import nested_selections
from graphtrial.results.rows import ResultRow, ResultRows
from graphtrial.results.titles import distinguishing_settings
from graphtrial.results.tuning import tuning_effort
from graphtrial.results.verdict import verdicts
from graphtrial.trials.store import TrialRecord
from graphtrial.trials.store.searches import SearchRecord


def result_rows(trials: Iterable[TrialRecord], searches: Sequence[SearchRecord] = ()) -> ResultRows:
    """Group tested trials into rows with their verdicts, in the order in which the first of each was started.

    The trials of a nested selection are one row, whatever was chosen for each fold, after the others.
    """
    groups: dict[str, list[TrialRecord]] = {}
    tested = [trial for trial in trials if trial.spec.score_test]
    for trial in tested:
        groups.setdefault(canonical_json(shared_specification(trial)), []).append(trial)
    rows = _nested_rows(tested, searches)
    of_folds = {trial.id for row in rows for trial in row.trials}
    plain = [search for search in searches if not of_folds & set(search.tests)]
    rows = [
        ResultRow(tuple(group), _published(group), tuning=tuning_effort(group, plain))
        for group in map(select_trials, groups.values())
        if not {trial.id for trial in group} <= of_folds
    ] + rows
    verdict_of, differs_in = verdicts(rows), distinguishing_settings(rows)
    return ResultRows(
        replace(row, verdict=verdict, differs_in=differs)
        for row, verdict, differs in zip(rows, verdict_of, differs_in, strict=True)
    )


def _nested_rows(trials: Sequence[TrialRecord], searches: Sequence[SearchRecord]) -> list[ResultRow]:
    """Return the rows of the nested selections all of whose tests are among these trials."""
    by_id = {trial.id: trial for trial in trials}
    rows = []
    for selection in nested_selections(searches):
        tests = [trial for search in selection.searches for trial in search.tests]
        if all(trial in by_id for trial in tests):
            group = tuple(by_id[trial] for trial in tests)
            rows.append(ResultRow(group, None, tuning=tuning_effort(group, selection.searches), nested=selection))
    return rows


def _published(group: list[TrialRecord]) -> PublishedResult | None:
    spec = group[0].spec
    if spec.kind.is_nested:  # the tables have other folds and another selection
        return None
    params = next((trial.params for trial in group if trial.params is not None), None)
    protocol = spec.protocol.partition("@")[0]
    return find_published(protocol, spec.dataset, spec.model.name, spec.settings, spec.encoding, params)
