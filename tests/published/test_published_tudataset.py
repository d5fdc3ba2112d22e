"""Which rows of TUDataset stand beside a trial."""

from __future__ import annotations

import pytest

from graphtrial.published import find_tudataset

JK = {"jumping": True}


@pytest.mark.parametrize(
    ("dataset", "model", "arguments", "trained", "printed"),
    [
        ("enzymes", "wl", {}, False, "50.8±1.4"),
        ("enzymes+labels", "wl-oa", {}, False, "56.4±1.1"),
        ("tu/enzymes", "graphlet", {}, False, "29.5±0.7"),
        ("nci1", "shortest-path-as-published", {"first_label": 1}, False, "74.2±0.3"),
        ("enzymes+labels", "gin-eps", {"layers": 3}, True, "38.7±1.5"),
        ("imdb-binary", "gin-eps", JK, True, "73.0±1.1"),
        ("reddit_threads", "gin-eps", JK, True, "77.3±0.04"),
        ("yeast", "gine", JK, True, "88.2±0.02"),
        ("alchemy", "gine-molecules", {"layers": 6}, True, "0.103±0.001"),
        ("zinc-full", "gine-molecules", {"layers": 4, "jumping": True}, True, "0.084±0.004"),
        ("qm9-complete", "mpnn", {}, True, "0.034±0.001"),
    ],
)
def test_a_trial_has_the_row_of_the_paper(
    dataset: str, model: str, arguments: dict[str, object], trained: bool, printed: str
) -> None:
    found = find_tudataset(dataset, model, arguments, trained=trained)
    assert found is not None
    assert found.test is not None
    assert found.test.printed == printed


@pytest.mark.parametrize(
    ("dataset", "model", "trained"),
    [
        ("enzymes", "gin-eps", True),  # which has attributes here and had labels there
        ("enzymes+all", "gin-eps", True),
        ("csl", "wl", False),
        ("enzymes", "random-walk", False),
        ("somebody/elses", "gin-eps", True),
    ],
)
def test_a_trial_that_the_paper_did_not_make_has_none(dataset: str, model: str, trained: bool) -> None:
    assert find_tudataset(dataset, model, {}, trained=trained) is None
