"""The searches behind a tuned row: all configurations, score against cost, importance, best score so far."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from graphtrial.core.errors import GraphTrialError
from graphtrial.report.charts import Chart, digits
from graphtrial.report.grid import Cell, Grid, number, numbers, words
from graphtrial.report.row_page import RowPage
from graphtrial.report.site import Site
from graphtrial.results.searches import Tried, tried_configurations
from graphtrial.results.statistics.best_so_far import best_so_far, expected_best
from graphtrial.trials.store.searches import SearchRecord
from graphtrial.tuning.importance import importances
from graphtrial.tuning.space import Space


@dataclass(frozen=True)
class TuningSection:
    """The part of a row page about its searches."""

    lead: str
    charts: list[Chart]
    grid: Grid


def tuning_section(site: Site, view: RowPage) -> TuningSection | None:
    """Return the searches of a tuned row, one for each fold of a nested selection; `None` where it was not tuned."""
    tuning = view.row.tuning
    if tuning is None:
        return None
    searches = [site.searches[name] for name in tuning.searches]
    ids = [trial for search in searches for configuration in search.configurations for trial in configuration]
    trials = {record.id: record for record in site.store.trials(ids)}
    tried = [tried_configurations(search, trials) for search in searches]
    metric, higher = view.row.first.metric, view.row.first.higher_is_better
    charts = [_costs(tried, metric), _importance(searches, tried, higher), _best(searches, tried, metric, higher)]
    return TuningSection(_lead(searches, tried), [chart for chart in charts if chart], _grid(view, tried))


def _lead(searches: Sequence[SearchRecord], tried: Sequence[Sequence[Tried]]) -> str:
    declaration = searches[0].declaration
    every = [one for each in tried for one in each]
    folds = f" for each of {len(searches)} outer folds" if every[0].fold is not None else ""
    return (
        f"{str(declaration.get('search', '')).capitalize()} search over the space {declaration.get('space_name', '')} "
        f"with a budget of {declaration.get('budget', '')}{folds}: {len(every)} configurations, "
        f"{sum(one.epochs for one in every):,} epochs, {sum(one.core_hours for one in every):.2g} core-hours. "
        "The search sees the validation part alone; only the chosen configuration is tested."
    )


def _grid(view: RowPage, tried: Sequence[Sequence[Tried]]) -> Grid:
    every = [one for each in tried for one in each]
    names = list(dict.fromkeys(name for one in every for name in one.point))
    nested, width = every[0].fold is not None, any(one.width is not None for one in every)
    columns = (
        *numbers(*(["fold"] if nested else []), "number"),
        *numbers(*names, *(["width"] if width else [])),
        *numbers("validation", "epochs", "core-hours"),
        *words("status"),
    )
    rows = [
        [
            *([Cell(str(one.fold), sort=one.fold)] if nested else []),
            Cell(str(one.number), sort=one.number),
            *(_value(one.point.get(name)) for name in names),
            *([_value(one.width)] if width else []),
            number(one.val, ".4g", "best" if one.chosen else ""),
            Cell(f"{one.epochs:,}", sort=one.epochs),
            number(one.core_hours, ".3g"),
            Cell(f"{one.status}, chosen" if one.chosen else one.status),
        ]
        for one in every
    ]
    title = f"Configurations tried for {view.title} on {view.dataset_title}"
    caption = "Validation: mean score over the tuning seeds and splits; the chosen one bold. Paused: not promoted."
    return Grid(f"{view.id}-tuning", title, columns, rows, caption, formats=())


def _value(value: Any) -> Cell:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return Cell("" if value is None else str(value))
    return Cell(f"{value:g}", sort=value)


def _costs(tried: Sequence[Sequence[Tried]], metric: str) -> Chart | None:
    """Return a scatter plot of validation score against epochs, the chosen configurations in another colour."""
    every = [one for each in tried for one in each if one.val is not None]
    if len(every) < 2:
        return None
    costs: list[tuple[str, Callable[[Tried], float]]] = [
        ("core-minutes", lambda one: 60 * one.core_hours),
        ("epochs", lambda one: one.epochs),
    ]
    series = [("tried", [one for one in every if not one.chosen]), ("chosen", [one for one in every if one.chosen])]
    views = [
        {
            "name": f"against {label}",
            "kind": "points",
            "x": {"label": label, "log_ratio": 8},
            "y": {"label": f"validation {metric}"},
            "series": [
                {"name": name, "points": [_point(one, cost) for one in points if cost(one)]} for name, points in series
            ],
        }
        for label, cost in costs
    ]
    return Chart("Score against cost", "One point per configuration with a validation score.", views)


def _point(one: Tried, cost: Callable[[Tried], float]) -> dict[str, Any]:
    point = ", ".join(f"{name} = {value}" for name, value in one.point.items())
    fold = "" if one.fold is None else f"fold {one.fold}, "
    ends = {"low": None, "high": None}
    score = one.val or 0.0
    return {
        "name": f"{fold}number {one.number}: {point}",
        "text": f"{score:.4g}",
        "x": digits(cost(one)),
        "y": digits(score),
    } | ends


def _importance(searches: Sequence[SearchRecord], tried: Sequence[Sequence[Tried]], higher: bool) -> Chart | None:
    """Return the importance of the parameters, the mean over searches; `None` where it cannot be computed."""
    importance_of: dict[str, list[float]] = {}
    for search, each in zip(searches, tried, strict=True):
        scored = [(one.point, -one.val if higher else one.val) for one in each if one.val is not None]
        try:
            space = Space.from_dict("stored", search.declaration.get("space", {}))
            importance = importances(space, [point for point, _ in scored], [score for _, score in scored])
        except (GraphTrialError, StopIteration):  # Optuna is not installed, or the space is not one of ours
            return None
        for name, fraction in importance.items():
            importance_of.setdefault(name, []).append(fraction)
    items = [{"name": name, "value": digits(fmean(each), 3)} for name, each in importance_of.items()]
    if not items:
        return None
    items.sort(key=lambda item: (-float(str(item["value"])), str(item["name"])))
    label = "share of the variance of the validation score"
    note = "Importance by functional ANOVA (Optuna), of parameters that every configuration has."
    return Chart(
        "Which parameters mattered", note, [{"name": label, "kind": "bars", "x": {"label": label}, "items": items}]
    )


def _best(
    searches: Sequence[SearchRecord], tried: Sequence[Sequence[Tried]], metric: str, higher: bool
) -> Chart | None:
    """Return the best score so far against the budget, as searched and over all orderings; means over folds."""
    scored = [[one for one in each if one.val is not None] for each in tried]
    count = min(map(len, scored))
    if count < 2 or any(search.declaration.get("search") == "halving" for search in searches):
        return None  # successive halving has final scores of its last rung alone
    scores = [[one.val for one in each if one.val is not None] for each in scored]
    expected = [expected_best(each, higher)[:count] for each in scores]
    best = [fmean(each) for each in zip(*(best_so_far(each, higher)[:count] for each in scores), strict=True)]
    epochs = fmean(one.epochs for each in scored for one in each)
    spent = [fmean(each[k].epochs for each in scored) for k in range(count)]
    xs = [
        list(range(1, count + 1)),
        [round(epochs * k) for k in range(1, count + 1)],
        [round(sum(spent[: k + 1])) for k in range(count)],
    ]

    def ends(end: str) -> list[float]:
        return [digits(fmean(getattr(best, end) for best in each)) for each in zip(*expected, strict=True)]

    over = {"name": "over all orderings", "y": ends("mean"), "low": ends("low"), "high": ends("high")}
    line = {"name": "as searched", "y": [digits(value) for value in best]}
    views = [
        {
            "name": f"against {label}",
            "kind": "lines",
            "x": {"label": label},
            "y": {"label": f"best validation {metric}"},
            "series": [{**over, "x": first}, {**line, "x": second}],
        }
        for label, first, second in (("configurations", 0, 0), ("epochs", 1, 2))
    ]
    folds = " Means over the outer folds." if len(searches) > 1 else ""
    note = (
        "Expected validation performance (Dodge et al. 2019): mean over all orderings of the configurations, with an "
        f"interval of 90 % of them.{folds}"
    )
    return Chart("Best score so far", note, views, xs)
