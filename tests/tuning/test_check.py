"""Spaces against the declared arguments of models and rules, and against the parameter budget."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from graphtrial.core.errors import GraphTrialError
from graphtrial.nn import MODELS
from graphtrial.nn.budget import parameter_count
from graphtrial.training import PROTOCOLS
from graphtrial.trials.shapes import planned_shapes
from graphtrial.tuning.check import check_feasible, check_space
from graphtrial.tuning.parameter import FloatRange
from graphtrial.tuning.space_files import default_space, load_space, read_space, shipped_spaces
from graphtrial.tuning.subject import Subject

RULES: Any = PROTOCOLS.get("bgnn-v5/csl").rules


@pytest.mark.parametrize("model", sorted(MODELS))
def test_every_model_has_a_default_space_that_fits_it(model: str) -> None:
    space = check_space(load_space("default", model), model, RULES)
    assert space.name == default_space(model)
    assert len(space.grid()) > 1  # a grid search needs no other file


def test_every_shipped_space_is_for_registered_models() -> None:
    for name in shipped_spaces():
        assert [model for model in MODELS if default_space(model) == name], name


def test_a_space_is_a_file_or_a_shipped_name(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("[rules]\noptimizer.lr = [0.1, 0.2]\n")
    assert load_space(str(file), "gcn").grid() == [{"optimizer.lr": 0.1}, {"optimizer.lr": 0.2}]
    assert load_space("optimizer", "gcn").name == "optimizer"
    for name, reason in (
        ("optimiser", "no space called 'optimiser'. Did you mean 'optimizer'"),
        (str(tmp_path / "none.toml"), "none.toml"),
    ):
        with pytest.raises(GraphTrialError, match=reason):
            load_space(name, "gcn")
    file.write_text("[rules\n")
    with pytest.raises(GraphTrialError, match=r"the space .* is not valid TOML"):
        load_space(str(file), "gcn")
    with pytest.raises(GraphTrialError, match="no default space ships for model 'mine'"):
        load_space("default", "mine")


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"settings": {"heads": [4, 8]}}, "model 'gcn' has no setting 'heads'"),
        ({"settings": {"layers": {"low": 0, "high": 4}}}, "layers of model 'gcn' must be an integer from 1 to 1,000"),
        ({"settings": {"dropout": {"low": 0.0, "high": 1.0}}}, "dropout of model 'gcn' must be"),
        ({"settings": {"residual": ["yes"]}}, "residual of model 'gcn' must be true or false"),
        ({"rules": {"optimizer.lr": {"low": -1.0, "high": 1.0}}}, "lr of .*adam.* must be"),
        ({"rules": {"optimiser.lr": [0.1]}}, "have no 'optimiser'"),
        ({"rules": {"optimizer.momentum": [0.9]}}, "has no setting 'momentum'"),
        ({"rules": {"optimizer": ["adam:lr=0.1", "adamm:lr=0.1"]}}, "Did you mean 'adam"),
        ({"encoding": ["laplacian:4", "laplaciann:4"]}, "Did you mean 'laplacian'"),
        ({"encoding": [4]}, "an encoding must be"),
    ],
)
def test_a_value_that_is_not_allowed_is_one_clear_line(values: dict[str, Any], reason: str) -> None:
    with pytest.raises(GraphTrialError, match=reason) as error:
        check_space(read_space(values, "mine"), "gcn", RULES)
    assert str(error.value).startswith("the space mine does not fit: ")


def test_an_argument_of_a_chosen_component_is_checked_under_its_condition() -> None:
    values = {
        "rules": {
            "optimizer": ["adam:lr=0.01", "sgd:lr=0.1"],
            "optimizer.momentum": {"low": 0.0, "high": 0.9, "when": {"optimizer": "sgd:lr=0.1"}},
        }
    }
    assert len(list(check_space(read_space(values, "mine"), "gcn", RULES))) == 2


def test_integers_of_a_float_argument_are_floats() -> None:
    values = {"settings": {"dropout": {"low": 0, "high": 0.5}}, "rules": {"optimizer.lr": {"low": 1, "high": 2}}}
    space = check_space(read_space(values, "mine"), "gcn", RULES)
    assert all(isinstance(parameter, FloatRange) for parameter in space)


def test_depth_and_width_trade_off_within_the_parameter_budget() -> None:
    subject = Subject("csl", "gcn", params="20k")
    space = read_space({"settings": {"layers": [2, 4, 8]}}, "mine")
    widths = []
    for layers in (2, 4, 8):
        settings = subject.configure(space, {"layers": layers}).settings
        widths.append(settings["width"])
        shapes = planned_shapes("csl", None)
        assert parameter_count("gcn", shapes, settings) <= 20_000
        assert parameter_count("gcn", shapes, {**settings, "width": settings["width"] + 1}) > 20_000
    assert widths == sorted(widths, reverse=True)
    assert len(set(widths)) == 3


def test_a_space_that_never_fits_the_budget_is_refused() -> None:
    deep = read_space({"settings": {"layers": {"low": 100, "high": 200}}}, "deep")
    with pytest.raises(GraphTrialError, match="every configuration of the space deep exceeds the parameter budget"):
        check_feasible(deep, Subject("csl", "gcn", params="1k"))
    wide = read_space({"settings": {"width": {"low": 64, "high": 128}}}, "wide")
    with pytest.raises(GraphTrialError, match=r"wide exceeds the parameter budget: .* more than 1,000"):
        check_feasible(wide, Subject("csl", "gcn", params="1k"))
    check_feasible(read_space({"settings": {"width": [4, 512]}}, "some"), Subject("csl", "gcn", params="1k"))
    odd = read_space({"settings": {"width": [7, 9], "heads": [2, 4]}}, "odd")
    with pytest.raises(GraphTrialError, match=r"no configuration of the space odd can be built: .* multiple"):
        check_feasible(odd, Subject("csl", "gat"))


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"protocol": "tudataset/gnn"}, "draws its folds by the seed"),
        ({"protocol": "wikics/svm"}, "its penalty is a rule"),
        ({"params": "many"}, "not a parameter budget"),
        ({"model": "nearest-neighbours", "params": "100k"}, "has no width"),
        ({"encoding": "laplaciann"}, "Did you mean 'laplacian'"),
        ({"model": "gccn"}, "Did you mean 'gcn'"),
    ],
)
def test_a_model_that_cannot_be_tuned_is_refused(arguments: dict[str, Any], reason: str) -> None:
    with pytest.raises(GraphTrialError, match=reason):
        Subject(**{"dataset": "csl", "model": "gcn", **arguments})
