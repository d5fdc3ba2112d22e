"""Ranks over datasets against SciPy, scikit-posthocs and the table of Demsar 2006."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats
from tests.helpers.cli import CliRunner

from graphtrial.cli.main import app
from graphtrial.results.statistics.ranks import rank_scores
from graphtrial.trials import Store

Filler = Callable[..., Any]

# Table 6 of Demsar 2006: AUC of C4.5 with four choices of parameters on 14 datasets.
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9752, 0.975],  # both are printed as 0.975, with ranks 2 and 3
        [0.957, 0.978, 0.946, 0.970],
    ]
)
NAMES = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]
SETS = [f"set {i}" for i in range(14)]


def test_example_of_demsar_is_reproduced() -> None:
    actual = rank_scores(NAMES, SETS, DEMSAR, [True] * 14)
    means = dict(zip(actual.models, actual.mean_ranks, strict=True))
    assert means == pytest.approx({"C4.5": 3.143, "C4.5+m": 2.000, "C4.5+cf": 2.893, "C4.5+m+cf": 1.964}, abs=5e-4)
    assert actual.critical_difference == pytest.approx(1.25, abs=5e-3)
    assert actual.models[0] == "C4.5+m+cf"
    assert actual.p_friedman == pytest.approx(scipy.stats.friedmanchisquare(*DEMSAR.T).pvalue)


def test_nemenyi_matches_scikit_posthocs() -> None:
    posthocs = pytest.importorskip("scikit_posthocs")
    actual = rank_scores(NAMES, SETS, DEMSAR, [True] * 14)
    order = [NAMES.index(model) for model in actual.models]
    expected = posthocs.posthoc_nemenyi_friedman(DEMSAR).to_numpy()[np.ix_(order, order)]
    assert np.array(actual.p_nemenyi) == pytest.approx(expected, abs=1e-6)


def test_ranks_are_reversed_where_lower_is_better() -> None:
    up = rank_scores(NAMES, SETS, DEMSAR, [True] * 14)
    down = rank_scores(NAMES, SETS, -DEMSAR, [False] * 14)
    assert (up.models, up.ranks) == (down.models, down.ranks)


def test_groups_are_maximal_insignificant_runs() -> None:
    scores = np.array([[9.0, 8, 7, 1]] * 30)
    actual = rank_scores(["a", "b", "c", "d"], [str(i) for i in range(30)], scores, [True] * 30)
    assert actual.critical_difference < 1
    assert actual.groups == ()
    few = rank_scores(["a", "b", "c", "d"], ["x", "y", "z"], scores[:3], [True] * 3)
    assert few.critical_difference == pytest.approx(2.569 * np.sqrt(4 * 5 / 18), abs=1e-3)
    assert few.groups == ((0, 1, 2), (1, 2, 3))


def test_command_draws_the_diagram(results: Store, fill: Filler, tmp_path: Path) -> None:
    for dataset in ("csl", "zinc", "aqsol"):
        for place, model in enumerate(("gcn", "gin", "gat", "g$n_<b>")):
            fill(model, [10.0 - place, 10.5 - place], dataset=dataset)
    words = ["ranks", "--store", str(results.path)]
    for name in ("ranks.svg", "ranks.png"):
        built = CliRunner().invoke(app, [*words, "--diagram", str(tmp_path / name)])
        assert built.exit_code == 0, built.output
        assert (tmp_path / name).stat().st_size > 1000
    drawing = (tmp_path / "ranks.svg").read_text(encoding="utf-8")
    assert "g$n_&lt;b&gt;" in drawing
    assert "critical difference 2.71, 3 datasets" in drawing
    result = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    assert result["mean_ranks"] == [1, 2, 3, 4]
    wrong = CliRunner().invoke(app, [*words, "--diagram", str(tmp_path / "ranks.pdf")])
    assert wrong.exit_code == 2
