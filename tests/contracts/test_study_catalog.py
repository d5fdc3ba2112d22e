"""Contract of every study of the catalog: it can be planned and has every row of its published table."""

from __future__ import annotations

from functools import cache

import pytest
from tests.conftest import raw_data

from graphtrial.datasets import DATASETS, load
from graphtrial.datasets.prepare import available_source
from graphtrial.encodings.notation import short_encoding
from graphtrial.nn import MODELS, parameter_count, resolve_settings
from graphtrial.published import PublishedResult
from graphtrial.published.lookup import parse_table
from graphtrial.published.papers import TABLES as PRINTED
from graphtrial.published.printed_results import PublishedModel, experiments
from graphtrial.published.shapes import published_shapes
from graphtrial.studies import ModelEntry, Study, catalog, load_study
from graphtrial.studies.plan import PlannedRow, expand, plan, row_key
from graphtrial.training import PROTOCOLS

STUDIES = sorted(catalog())
OF_TABLES = [name for name in STUDIES if load_study(name).published is not None]
TABLES = {"bgnn-v5": range(3, 17), "bgnn-v1": (*range(2, 9), *range(11, 16))}
"""The tables with scores; 9, 10 and 16 of the first version list models, datasets and settings."""


@cache
def planned(name: str) -> list[PlannedRow]:
    return plan(load_study(name))


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_study_names_registered_components(name: str) -> None:
    study = load_study(name)
    assert study.title
    assert study.paper
    actual = planned(name)
    assert actual
    for row in actual:
        assert row.dataset in DATASETS
        assert row.protocol.partition("@")[0] in PROTOCOLS
        assert row.trials >= 1
        if row.kind.has_epochs:
            assert row.model.name in MODELS
            assert resolve_settings(row.model.name, row.settings) == row.settings


SMALL = ("csl", "enzymes", "enzymes+labels", "proteins_full", "proteins+labels", "imdb-binary", "cycles-200")
"""Datasets that are prepared within seconds; with `pytest --large` all that are prepared within minutes."""


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_plan_equals_trials(name: str, request: pytest.FixtureRequest) -> None:
    study = load_study(name)
    if raw_data() is not None:
        request.getfixturevalue("mirror")
    expected = study.datasets if request.config.getoption("--large") else [d for d in study.datasets if d in SMALL]
    here = [each for each in expected if (source := available_source(DATASETS.get(each)())) and not source.hours]
    if not here:
        pytest.skip("no dataset of the study is available")
    part = study.only(datasets=here)
    rows, trials = plan(part), part.trials()
    assert rows == expand(part, cache(load))
    places: dict[str, list[tuple[int, int]]] = {}
    for trial in trials:
        places.setdefault(row_key(trial), []).append((trial.split, trial.seed))
    assert places == {row.key: [(split, seed) for split in range(row.splits) for seed in row.seeds] for row in rows}
    assert len({trial.id for trial in trials}) == len(trials)


def test_plan_accepts_dataset_aliases() -> None:
    (row,) = plan(Study("s", "tu/enzymes", (ModelEntry("wl"),), "tudataset/kernel-svm"))
    assert row.dataset == DATASETS.get("tu/enzymes").name == "enzymes"


def test_every_table_with_scores_is_a_study() -> None:
    expected = {f"{paper}/table-{number}" for paper, numbers in TABLES.items() for number in numbers}
    assert expected == set(OF_TABLES)
    assert {key for key in PRINTED if key[0] in TABLES} == {parse_table(name) for name in expected}


def stands_for(row: PlannedRow, printed: PublishedResult, model: PublishedModel) -> bool:
    return (
        row.dataset in printed.datasets
        and row.model.name == model.name
        and short_encoding(row.encoding) == printed.encoding
        and row.settings == resolve_settings(row.model.name, dict(model.settings))
    )


@pytest.mark.parametrize("name", OF_TABLES)
def test_every_printed_row_is_in_the_study_or_has_a_reason(name: str) -> None:
    for printed in experiments(*parse_table(name)):
        assert printed.models or printed.reason, printed.description
        assert not printed.reason or printed.test is None, printed.description
        for model in () if printed.reason else printed.models:
            assert sum(stands_for(row, printed, model) for row in planned(name)) == 1, printed.description


@pytest.mark.parametrize("name", OF_TABLES)
def test_every_row_of_the_study_is_printed(name: str) -> None:
    rows = [printed for printed in experiments(*parse_table(name)) if not printed.reason]
    models = [(printed, model) for printed in rows for model in printed.models]
    for row in planned(name):
        assert any(stands_for(row, printed, model) for printed, model in models), row


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_TABLES)
def test_parameter_counts_match_the_printed_ones(name: str) -> None:
    for printed in experiments(*parse_table(name)):
        if not printed.models or printed.params_exact is None:
            continue
        (model,) = printed.models
        shapes = published_shapes(printed.printed.dataset, printed.printed.variant.get("pe_dim", 0))
        assert shapes is not None
        settings = dict(model.settings)
        if settings.get("batch_norm") is False:  # the reference makes and counts norms also where they are off
            settings["batch_norm"] = True
        assert parameter_count(model.name, shapes, settings) == printed.params_exact, printed.description
        if (printed.paper, printed.printed.dataset, printed.printed.model) == ("bgnn-v1", "CIFAR10", "MLP"):
            assert (printed.params_exact, printed.params) == (104_380, 104_044)  # a slip of the paper
        else:
            assert printed.params_exact == printed.params, printed.description


@pytest.mark.parametrize("name", OF_TABLES)
def test_protocol_belongs_to_the_paper(name: str) -> None:
    paper = name.partition("/")[0]
    assert {row.protocol.partition("/")[0] for row in planned(name)} == {paper}
