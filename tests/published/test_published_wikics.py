"""Which rows of Wiki-CS a trial is compared with."""

from __future__ import annotations

import pytest

from graphtrial.published import find_wikics


@pytest.mark.parametrize(
    ("dataset", "model", "printed"),
    [
        ("wikics-stopping", "svm", "72.63"),
        ("wikics-stopping", "mlp-direct", "73.17±0.19"),
        ("wikics", "gcn-direct", "79.07±0.10"),
        ("wikics-stopping", "gat-direct", "79.63±0.10"),
        ("wikics-stopping", "appnp", "79.84±0.10"),
        ("wikics+links", "vgae", "0.9553±0.0008"),
        ("wikics+links", "graphstar", "0.9793±0.0002"),
        ("wikics+links-10000", "mlp-direct", "0.9192±0.0004"),
    ],
)
def test_a_trial_finds_the_row_of_its_table(dataset: str, model: str, printed: str) -> None:
    row = find_wikics(dataset, model)
    assert row is not None
    assert row.test is not None
    assert row.test.printed == printed


def test_average_precision_has_rows_of_its_own() -> None:
    row = find_wikics("wikics+links", "vgae", "AP")
    assert row is not None
    assert row.test is not None
    assert row.test.mean == 0.9608


@pytest.mark.parametrize(
    ("dataset", "model"),
    [("cora", "gcn-direct"), ("wikics-standin-stopping", "svm"), ("wikics+links-hard", "vgae"), ("wikics", "gin")],
)
def test_other_data_and_models_have_none(dataset: str, model: str) -> None:
    assert find_wikics(dataset, model) is None
