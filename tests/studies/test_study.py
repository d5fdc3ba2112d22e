from __future__ import annotations

from pathlib import Path

import pytest

from graphtrial.core.errors import GraphTrialError, UnknownNameError
from graphtrial.datasets import DATASETS
from graphtrial.studies import ModelEntry, Study, catalog, load_study
from graphtrial.studies.plan import plan
from graphtrial.trials.kinds import kind_of

GOOD = """
title = "A table"
dataset = "csl"
seeds = [14, 34]
splits = 1

[rules]
stopping.max_epochs = 3

[[models]]
name = "gcn"
width = 16
encoding = ["none", "laplacian:4,sign=fixed"]
"""


def test_study_file_expands_to_the_grid(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(GOOD)
    trials = load_study(str(tmp_path / "a.toml")).trials()
    assert len(trials) == len({trial.id for trial in trials}) == 4
    assert {trial.seed for trial in trials} == {14, 34}
    assert {str(trial.encoding) for trial in trials} == {"None", "laplacian:k=4,sign=fixed"}
    assert all(trial.rules.flat()["stopping.max_epochs"] == 3 for trial in trials)
    assert all(trial.rules.flat()["optimizer.lr"] == 5e-4 for trial in trials)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("dataset", "datset", "Did you mean 'dataset'"),
        ("max_epochs", "max_epoch", "Did you mean 'max_epochs'"),
        ('name = "gcn"', 'name = "gcm"', "Did you mean 'gcn'"),
        ("width = 16", "widht = 16", "Did you mean 'width'"),
        ("laplacian:4", "laplace:4", "Did you mean 'laplacian'"),
        ("sign=fixed", "sgin=fixed", "Did you mean 'sign'"),
        ("[[models]]", "[models]", "needs a \\[\\[models\\]\\] for each"),
        ('title = "A table"', "title = A table", "not valid TOML"),
        ("splits = 1", "splits = 6", "splits, not 6"),
        ('name = "gcn"', "name = 3", "needs a name"),
        ('dataset = "csl"', 'dataset = "csl2"', "Did you mean 'csl'"),
        ("width = 16", "width = -1", "from 1 to"),
        ("width = 16", "layers = 2.5", "must be an integer"),
        ("width = 16", "grid = { width = 16 }", "grid of model 'gcn' .* each a list"),
        ('dataset = "csl"', "datasets = 5", "'datasets' of study a.toml must be a list, each a string"),
        ('dataset = "csl"', "dataset = []", "'dataset' of study a.toml must be a string"),
        *(
            ("seeds = [14, 34]", line, message)
            for line, message in (
                ('seeds = "0"', "seeds of study a.toml must be"),
                ("seeds = [[1]]", "seeds of study a.toml must be"),
                ("seeds = 0", "seeds of study a.toml must be"),
                ("seeds = [-1]", "seeds of study a.toml must be"),
                ("seeds = true", "seeds of study a.toml must be"),
                ("seeds = []", "seeds of study a.toml must be"),
                ("protocol = 5", "protocol of study a.toml must be a string .* or absent, not 5"),
                ("paper = 1979-05-27", "paper of study a.toml must be a string"),
                ("also = [1]", "also of study a.toml must be a list, each a string"),
            )
        ),
        (
            'encoding = ["none", "laplacian:4,sign=fixed"]',
            "encoding = true",
            "encoding of model 'gcn' .* each a string",
        ),
        *(
            ("width = 16", f"width = 16\n{line}", message)
            for line, message in (
                ("budget = []", "budget of model 'gcn' in study a.toml must be a string .* or absent"),
                ("datasets = []", "datasets of model 'gcn' in study a.toml must be a list"),
                ("dropout = nan", "dropout of model 'gcn' must be a finite number"),
                ("layers = 1979-05-27", "layers of model 'gcn' must be an integer"),
                ("dropout = [0.1]", "dropout of model 'gcn' must be a finite number"),
            )
        ),
        *(
            ("stopping.max_epochs = 3", rule, f"{rule.partition(' ')[0].rpartition('.')[2]}.* of .* must be")
            for rule in ("schedule.patience = nan", "schedule.patience = -1", "batch_size = 1.5", 'optimizer.lr = "x"')
        ),
        *(
            ("stopping.max_epochs = 3", rule, f"of stopping rule '{rule.partition(' ')[0].rpartition('.')[2]}' must be")
            for rule in ('stopping.max_hours = "x"', "stopping.max_epochs = true")
        ),
        ('dataset = "csl"', 'dataset = "csl"\ndatasets = ["csl"]', "leave out one"),
    ],
)
def test_invalid_study_file_gives_one_line_error(tmp_path: Path, old: str, new: str, message: str) -> None:
    (tmp_path / "a.toml").write_text(GOOD.replace(old, new))
    with pytest.raises(GraphTrialError, match=message):
        load_study(str(tmp_path / "a.toml")).trials()


def test_unknown_study_names_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'demo'"):
        load_study("dem")


def test_missing_study_file_raises() -> None:
    with pytest.raises(GraphTrialError, match="cannot read the study"):
        load_study("nowhere.toml")


def test_catalog_is_sorted_numerically() -> None:
    tables = [name for name in catalog() if name.startswith("bgnn-v5/")]
    assert tables == [f"bgnn-v5/table-{number}" for number in sorted(int(name.rpartition("-")[2]) for name in tables)]


@pytest.mark.parametrize("name", sorted(catalog()))
def test_catalog_names_registered_components(name: str) -> None:
    study = load_study(name)
    for dataset in study.datasets:
        assert DATASETS.get(dataset)
    for row in study.rows:
        assert set(row.datasets or study.datasets) <= set(study.datasets)
        protocol = study.protocol_for(DATASETS.get((row.datasets or study.datasets)[0]), row)
        for settings in row.points():
            kind_of(protocol.rules_for(row.model)).check_settings(row.model, settings)


def test_demo_has_a_plan() -> None:
    assert load_study("demo").trials()


def test_published_width_and_depth_are_the_default() -> None:
    spec = Study("s", "csl", (ModelEntry("gatedgcn", encodings=("laplacian:20",)),), seeds=1, splits=1).trials()[0]
    assert (spec.settings["width"], spec.settings["layers"]) == (70, 4)


def test_budget_or_an_unpublished_depth_gives_the_widest_model_that_fits() -> None:
    wide = Study("s", "csl", (ModelEntry("gcn", {}, budget="50k"),), seeds=1, splits=1).trials()[0]
    deep = Study("s", "csl", (ModelEntry("gcn", {"layers": 7}),), seeds=1, splits=1).trials()[0]
    assert wide.settings["width"] < 146
    assert deep.settings["layers"] == 7
    assert deep.settings["width"] < 146


def test_deterministic_trials_run_once_for_all_seeds() -> None:
    rows = (ModelEntry("svm", protocol="wikics/svm"), ModelEntry("gcn-direct", {"width": 8}))
    trials = Study("s", "wikics-standin-stopping", rows, "wikics/nodes", seeds=3, splits=2).trials()
    assert [trial.split for trial in trials if trial.model.name == "svm"] == [0, 1]
    assert len(trials) == 2 + 2 * 3


def test_rules_of_a_row_override_those_of_the_study(tmp_path: Path) -> None:
    own = 'rules = { stopping.max_epochs = 2, "optimizer.lr" = 0.01 }\n'
    (tmp_path / "a.toml").write_text(f'{GOOD}\n[[models]]\nname = "gin"\nwidth = 16\n{own}')
    study = load_study(str(tmp_path / "a.toml"))
    actual = {trial.model.name: trial.rules.flat() for trial in study.trials()}
    assert [actual[name]["stopping.max_epochs"] for name in ("gcn", "gin")] == [3, 2]
    assert [actual[name]["optimizer.lr"] for name in ("gcn", "gin")] == [5e-4, 0.01]
    assert [row.rules.flat() for row in plan(study)] == [actual["gcn"], actual["gcn"], actual["gin"]]
    (tmp_path / "b.toml").write_text(f'{GOOD}\n[[models]]\nname = "gin"\nrules = {{ stopping.max_epoch = 2 }}\n')
    with pytest.raises(GraphTrialError, match="Did you mean 'max_epochs'"):
        load_study(str(tmp_path / "b.toml")).trials()


def test_study_uses_the_first_seeds_of_the_protocol() -> None:
    trials = Study("s", "csl", (ModelEntry("gcn", {"width": 8}),), seeds=3, splits=1).trials()
    assert [trial.seed for trial in trials] == [14, 34, 54]
