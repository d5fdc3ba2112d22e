from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.helpers.cli import CliRunner

from graphtrial.cli.main import app
from graphtrial.datasets import load
from graphtrial.nn import MODELS
from graphtrial.studies import catalog
from graphtrial.validation import Verdict, validate

HEAD = 'title = "t"\ndataset = "csl"\n'
GOOD = HEAD + '[[models]]\nname = "gcn"\nwidth = 8\nencoding = ["none", "laplacian:4"]\n'
LAYER = """
import torch
from torch import nn
import graphtrial as gt

@gt.MODELS.register("mine")
class Mine(gt.Conv):
    "A layer of mine."
    def __init__(self, width: int):
        super().__init__()
        self.linear = nn.Linear(width, width)
    def forward(self, graph, x, e):
        return {}, e
"""


def looked_at(folder: Path, text: str, name: str = "study.toml") -> Verdict:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return validate(str(path))


def test_valid_study_reports_its_trials(tmp_path: Path) -> None:
    load("csl")
    verdict = looked_at(tmp_path, GOOD)
    assert verdict.is_sound
    assert verdict.facts == ["200 trials on csl"]  # two encodings, five folds, twenty seeds


@pytest.mark.slow
@pytest.mark.parametrize("name", catalog())
def test_every_study_of_the_catalog_is_valid(name: str) -> None:
    assert validate(name).problems == []


def test_validation_prepares_no_dataset(own_home: Path, tmp_path: Path) -> None:
    verdict = looked_at(tmp_path, GOOD)
    assert verdict.is_sound
    assert "graphtrial data prepare csl" in verdict.facts[0]
    assert not list(own_home.rglob("set.json"))


def test_all_problems_are_reported_together(tmp_path: Path) -> None:
    text = (
        'title = "t"\ndatasets = ["csl", "zink"]\nsplits = 99\n'
        '[[models]]\nname = "gnc"\n'
        '[[models]]\nname = "gcn"\nwidth = 8\nwidht = 9\n'
        '[[models]]\nname = "gat"\nwidth = 9\nencoding = "laplace:4"\ndatasets = ["csl", "mnist"]\n'
    )
    problems = "\n".join(looked_at(tmp_path, text).problems)
    assert "no dataset called 'zink'. Did you mean 'zinc'?" in problems
    assert "splits, not 99" in problems
    assert "dataset 'mnist', which the study does not have" in problems
    text = text.replace("splits = 99\n", "")
    problems = "\n".join(looked_at(tmp_path, text).problems)
    assert "no model called 'gnc'" in problems
    assert "no setting 'widht'. Did you mean 'width'?" in problems


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("title = ", "not valid TOML"),
        (HEAD + "models = [1]\n", "needs a name"),
        (HEAD + 'splits = 9\n[[models]]\nname = "gcn"\nwidth = 8\n', "splits, not 9"),
        (HEAD + 'rules = {stopping.max_epoch = 1}\n[[models]]\nname = "gcn"\nwidth = 8\n', "Did you mean 'max_epochs'"),
        (HEAD + '[[models]]\nname = "gcn"\nbudget = "many"\n', "not a parameter budget"),
        (HEAD + '[[models]]\nname = "gcn"\nencoding = "laplacian:x"\nwidth = 8\n', "k of 'laplacian:x' must be"),
        (HEAD + 'protocol = "mine"\n[[models]]\nname = "gcn"\nwidth = 8\n', "no protocol called 'mine'"),
    ],
)
def test_study_problems_are_one_line(tmp_path: Path, text: str, reason: str) -> None:
    (problem,) = looked_at(tmp_path, text).problems
    assert reason in problem
    assert "\n" not in problem


def test_valid_plugin_is_checked_and_unregistered(tmp_path: Path) -> None:
    verdict = looked_at(tmp_path, LAYER.replace("{}", "self.linear(x) + gt.aggregate(graph, x, 'mean')"), "mine.py")
    assert verdict.problems == []
    assert verdict.facts == ["registers the model 'mine'"]
    assert "mine" not in MODELS


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("self.linear(x[:, :2])", "line 13: RuntimeError"),
        ("x / 0 * 0", "not finite"),
        ("self.linear(x) + torch.rand_like(x)", "two forward passes in evaluation mode differ"),
        ("self.linear(x) + 100 * x.mean()", "depends on the other graphs of the batch"),
    ],
)
def test_unreproducible_or_batch_dependent_model_is_invalid(tmp_path: Path, body: str, reason: str) -> None:
    (problem,) = looked_at(tmp_path, LAYER.replace("{}", body), "mine.py").problems
    assert reason in problem
    assert "mine" not in MODELS


def test_parameters_without_gradient_are_named(tmp_path: Path) -> None:
    verdict = looked_at(tmp_path, LAYER.replace("{}", "x + self.linear(x).detach()"), "mine.py")
    assert verdict.is_sound
    assert "no gradient for blocks.0.conv.linear.weight" in verdict.facts[1]


def test_nondeterministic_encoding_is_invalid(tmp_path: Path) -> None:
    text = """
import numpy as np
import graphtrial as gt

@gt.ENCODINGS.register("noise")
class Noise(gt.Encoding):
    name = "noise"
    def __init__(self, width: int):
        self.width = width
    def compute(self, graphs):
        return np.random.default_rng().normal(size=(graphs.num_nodes, self.width))
"""
    assert looked_at(tmp_path, text, "mine.py").problems == [
        "encoding 'noise': it is not deterministic: computed twice, its values differ"
    ]


def test_plugin_load_error_has_its_location(tmp_path: Path) -> None:
    assert "line 2" in looked_at(tmp_path, "import os\ndef (\n", "mine.py").problems[0]
    assert "registers nothing" in looked_at(tmp_path, "import os\n", "mine.py").problems[0]


def test_exit_code_reflects_validity(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(GOOD)
    assert CliRunner().invoke(app, ["validate", str(tmp_path / "study.toml")]).exit_code == 0
    (tmp_path / "study.toml").write_text(GOOD.replace("gcn", "gnc"))
    result = CliRunner().invoke(app, ["validate", str(tmp_path / "study.toml"), "--json"])
    assert result.exit_code == 1
    assert "Did you mean" in json.loads(result.stdout)["problems"][0]
    result = CliRunner().invoke(app, ["validate", "picture.png"])
    assert result.exit_code == 2
    assert "neither a study" in result.output
