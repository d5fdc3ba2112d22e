"""Ranks of the rows of a store: one recipe on each dataset."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from tests.helpers.cli import CliRunner
from tests.helpers.filled_store import Filler

from graphtrial.cli.main import app
from graphtrial.core.errors import GraphTrialError
from graphtrial.results import result_rows
from graphtrial.results.select import stored_rows
from graphtrial.results.statistics.ranked_rows import rank_rows, widest_ranks
from graphtrial.results.statistics.recipes import Recipe, by_recipe, choose_recipes, recipe_of
from graphtrial.shipped import shipped_store
from graphtrial.trials import Store

SHORT = {"stopping.max_epochs": 3}


def test_models_without_a_dataset_are_excluded_and_listed(results: Store, fill: Filler) -> None:
    for dataset in ("csl", "zinc"):
        fill("gcn", [1, 2], dataset=dataset)
        fill("gin", [3, 4], dataset=dataset)
    fill("gat", [5, 6])
    actual = rank_rows(result_rows(results.trials()))
    assert actual.models == ("gin/layers=4", "gcn/layers=4")
    assert actual.left_out == ("gat/layers=4",)
    with pytest.raises(GraphTrialError, match="at least two models"):
        rank_rows(result_rows(results.trials()), ["csl"])
    with pytest.raises(GraphTrialError, match="--datasets names at least two"):
        rank_rows(result_rows(results.trials()), ["csl"])


def test_rows_of_other_protocols_or_rules_are_not_ranked_together(results: Store, fill: Filler) -> None:
    for dataset in ("csl", "zinc"):
        fill("gcn", [1, 2], dataset=dataset)
        fill("gin", [3, 4], dataset=dataset)
        fill("gat", [9, 9], dataset=dataset, protocol="modern/cosine@1")
        fill("mlp", [9, 9], dataset=dataset, rules=SHORT)
        fill("graphsage", [9, 9], dataset=dataset, protocol="bgnn-v5/csl@2")
    actual = rank_rows(result_rows(results.trials()))
    assert actual.models == ("gin/layers=4", "gcn/layers=4")
    assert [recipe.title for recipe in actual.recipes] == ["bgnn-v5", "bgnn-v5"]
    assert set(actual.left_out) == {"gat/layers=4", "mlp/layers=4", "graphsage/layers=4"}


def test_editions_are_not_ranked_together(results: Store, fill: Filler) -> None:
    for dataset in ("csl", "zinc"):
        fill("gcn", [1, 2], dataset=dataset)
        fill("gin", [3, 4], dataset=dataset)
        fill("gat", [9, 9], dataset=dataset, protocol="bgnn-v5/csl-as-published@1")
    assert rank_rows(result_rows(results.trials())).left_out == ("gat/layers=4",)


def test_the_recipe_that_most_models_share_is_ranked(results: Store, fill: Filler) -> None:
    for dataset in ("csl", "zinc"):
        for place, model in enumerate(("gcn", "gin")):
            fill(model, [place, place], dataset=dataset)
        for place, model in enumerate(("gcn", "gin", "gat")):
            fill(model, [9 - place, 9 - place], dataset=dataset, rules=SHORT)
    rows = result_rows(results.trials())
    actual = rank_rows(rows)
    assert actual.models == ("gcn/layers=4", "gin/layers=4", "gat/layers=4")
    assert actual.badges[0] == ("changed rules",)
    assert "csl bgnn-v5, stopping.max_epochs = 3 [changed rules]" in actual.basis
    two = rank_rows([row for row in rows if row.label != "gat"])
    assert two.models == ("gin/layers=4", "gcn/layers=4"), "of equally many models, the published rules"
    assert two.badges[0] == ()
    assert widest_ranks(rows) == actual


def test_of_several_rows_of_a_name_none_is_chosen_by_its_score(results: Store, fill: Filler) -> None:
    for dataset in ("csl", "zinc"):
        fill("gcn", [5, 5], dataset=dataset)
        fill("grit", [1, 1], dataset=dataset, arguments={"walk_length": 1})
    fill("grit", [9, 9], dataset="csl", arguments={"walk_length": 21})
    actual = rank_rows(result_rows(results.trials()))
    assert actual.models == ("gcn/layers=4", "grit/layers=4/walk_length=1")
    assert actual.left_out == ("grit/layers=4/walk_length=21",)


def test_ranks_of_a_report_are_over_many_models_and_datasets(results: Store, fill: Filler) -> None:
    for place, model in enumerate(("gcn", "gin", "gat", "mlp", "graphsage", "monet")):
        fill(model, [place, place], dataset="csl")  # the largest table shares two models with one other
    for dataset in ("zinc", "aqsol", "csl"):
        for place, model in enumerate(("pna", "gps", "grit")):
            fill(model, [place, place], dataset=dataset, protocol="modern/cosine@1")
    fill("gcn", [1, 1], dataset="cora")
    fill("gin", [2, 2], dataset="cora")
    rows = result_rows(results.trials())
    actual = widest_ranks(rows)
    assert actual is not None
    assert set(actual.datasets) == {"csl", "zinc", "aqsol"}
    assert actual.models == ("grit/layers=4", "gps/layers=4", "pna/layers=4")
    assert widest_ranks([row for row in rows if row.first.spec.dataset == "csl"]) is None
    assert widest_ranks([]) is None


def test_shipped_models_are_ranked() -> None:
    actual = widest_ranks(stored_rows(shipped_store()))
    assert actual is not None
    assert len(actual.models) * len(actual.datasets) >= 21


def test_recipes_are_chosen_as_by_trying_all() -> None:
    generator = np.random.default_rng(0)
    for _ in range(200):
        recipes = [Recipe(f"set {i}", "", str(j), "1") for i in range(4) for j in range(generator.integers(1, 4))]
        models = {one: frozenset(generator.choice(6, generator.integers(1, 7)).astype(str)) for one in recipes}
        preferred = frozenset(one for one in recipes if generator.random() < 0.5)

        def value(
            chosen: tuple[Recipe, ...],
            models: dict[Recipe, frozenset[str]] = models,
            preferred: frozenset[Recipe] = preferred,
        ) -> tuple[int, int]:
            return len(frozenset.intersection(*map(models.__getitem__, chosen))), len(preferred.intersection(chosen))

        options = [[one for one in recipes if one.dataset == f"set {i}"] for i in range(4)]
        assert value(choose_recipes(models, preferred)) == max(map(value, product(*options)))


def test_fits_without_epochs_belong_to_all_recipes_of_their_protocols() -> None:
    rows = [row for row in stored_rows(shipped_store()) if row.first.spec.dataset == "enzymes"]
    (fit,) = (row for row in rows if not row.has_epochs)
    groups = by_recipe(rows)
    assert {recipe.tuned for recipe in groups} == {False, True}
    assert all(fit in group for group in groups.values())
    assert recipe_of(fit) not in groups
    assert list(by_recipe([fit]).values()) == [[fit]]


def test_a_family_of_protocols_can_be_named() -> None:
    words = ["ranks", "--shipped", "--datasets", "zinc,aqsol", "--protocol"]
    modern = CliRunner().invoke(app, [*words, "modern"])
    assert modern.exit_code == 0, modern.output
    assert "zinc modern, stopping.max_epochs = 100 [changed rules] [other data]; aqsol modern." in modern.output
    assert "gatedgcn" not in modern.output
    wrong = CliRunner().invoke(app, [*words, "modren"])
    assert wrong.exit_code == 2
    assert "The protocols are" in wrong.output
    assert "Traceback" not in wrong.output
