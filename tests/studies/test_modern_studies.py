"""Studies of modern models: released sizes and recipes, and one budget for all."""

from __future__ import annotations

from collections import Counter

import pytest

from graphtrial.encodings.notation import short_encoding
from graphtrial.nn import parameter_count
from graphtrial.nn.registry import width_step
from graphtrial.published import PublishedResult, configurations, published_results
from graphtrial.published.lookup import find_published
from graphtrial.studies import load_study
from graphtrial.studies.plan import PlannedRow, plan
from graphtrial.trials.shapes import make_encoding, planned_shapes

RELEASED = [config for config in configurations() if config.shapes]
DATASETS = ("zinc", "pattern", "cluster", "mnist", "cifar10")


def parameters(row: PlannedRow, width: int = 0) -> int:
    shapes = row.kind.shapes(planned_shapes(row.dataset, make_encoding(row.encoding)))
    return parameter_count(row.model.name, shapes, {**row.settings, **({"width": width} if width else {})})


def unused_types(row: PlannedRow) -> int:
    """Parameters of the 7 of ZINC's 28 atom types that GRIT and GNN+ do not count and no molecule has."""
    if row.dataset != "zinc" or row.model.name not in ("grit", "gcn-plus", "gin-plus", "gatedgcn-plus"):
        return 0
    return 7 * (row.settings["width"] - (row.settings["position_width"] if row.encoding else 0))


@pytest.mark.parametrize("dataset", DATASETS)
def test_every_row_has_the_parameters_and_the_protocol_of_a_released_configuration(dataset: str) -> None:
    released = Counter(
        (config.model, config.protocol, config.params) for config in RELEASED if dataset in config.datasets
    )
    rows = plan(load_study(f"modern/{dataset}"))
    planned = Counter(
        (row.model.name, row.protocol.partition("@")[0], parameters(row) - unused_types(row)) for row in rows
    )
    assert planned <= released


@pytest.mark.parametrize("dataset", DATASETS)
def test_no_model_with_a_released_configuration_is_missing(dataset: str) -> None:
    planned = {row.model.name for row in plan(load_study(f"modern/{dataset}"))}
    released = {config.model for config in RELEASED if dataset in config.datasets}
    assert planned == released


@pytest.mark.parametrize("dataset", DATASETS)
def test_every_number_that_a_trial_is_compared_with_has_its_row(dataset: str) -> None:
    own = [row for row in published_results() if row.origin == "own" and row.protocol and dataset in row.datasets]
    expected = {_experiment(row) for row in own if not row.reason and not row.incomparable}
    assert expected
    compared = [
        find_published(
            row.protocol.partition("@")[0], dataset, row.model.name, row.settings, row.encoding, parameters(row)
        )
        for row in plan(load_study(f"modern/{dataset}"))
    ]
    assert expected == {_experiment(row) for row in compared if row is not None and row.origin == "own"}


def _experiment(row: PublishedResult) -> tuple[str, ...]:
    (model,) = row.models
    return row.paper, model.name, repr(sorted(model.settings.items())), row.encoding


def test_all_models_of_the_budget_are_as_wide_as_it_allows() -> None:
    rows = plan(load_study("modern/budget-100k"))
    assert {row.dataset for row in rows} == {"zinc", "aqsol"}
    assert {row.rules for row in rows} == {rows[0].rules}
    assert len({(row.dataset, row.model.name, short_encoding(row.encoding)) for row in rows}) == 40
    for row in rows:
        step = width_step(row.model.name, row.settings)
        assert row.settings["width"] % step == 0
        assert row.settings["layers"] == 4
        assert parameters(row) <= 100_000 < parameters(row, row.settings["width"] + step)
        assert parameters(row) > 80_000
