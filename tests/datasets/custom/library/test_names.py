"""Names of datasets of other libraries: parsed, refused, and the catalog beside the library's own."""

from __future__ import annotations

import csv
import importlib.util
from pathlib import Path

import pytest

from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets.custom.library.catalog import LRGB, OGB
from graphtrial.datasets.custom.library.names import parse
from graphtrial.datasets.custom.recipe import NAME
from graphtrial.datasets.custom.tasks import declared_task

METRICS = {"rocauc": "roc-auc", "ap": "average-precision", "rmse": "rmse", "acc": "accuracy", "F1": ""}
RANKED = {"ogbl-citation2"}
"""Datasets whose links are ranked among negatives of their own."""
TYPES = {"binary classification": "binary-classification", "multiclass classification": "classification"}


def test_names_are_parsed() -> None:
    cora = parse("pyg:Planetoid/Cora/split=geom-gcn/num_val=5")
    assert (cora.library, cora.dataset, cora.positional) == ("pyg", "Planetoid", ("Cora",))
    assert cora.keywords == {"split": "geom-gcn", "num_val": 5}
    assert parse("pyg:ZINC/subset=true").keywords == {"subset": True}
    assert parse("pyg:Planetoid/Cora").slug == "pyg-planetoid-cora"
    assert parse("lrgb:Peptides-Func").text == "lrgb:peptides-func"
    assert all(NAME.fullmatch(parse(name).slug) for name in ("pyg:A_/b=C+.5", "ogb:ogbg-molhiv", "pyg:" + "A" * 90))


@pytest.mark.parametrize(
    "name",
    [
        *("pyg:", "pyg:../x", "pyg:A/..", "pyg:A/../../etc", "pyg:A//b", "pyg:A/.b", "pyg:A b", "pyg:A;b", "pyg:/A"),
        *("pyg:A\\b", "pyg:A/b=", "pyg:A/k=v/b", "pyg:" + "A" * 200, "pyg:Ä", "pyg:A\n"),
        *("ogb:ogbg-molhi", "ogb:ogbg-molhiv/x", "lrgb:zinc"),
    ],
)
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(GraphTrialError):
        parse(name)


@pytest.mark.parametrize("name", [name for name, entry in OGB.items() if entry.refused])
def test_datasets_without_a_task_here_say_why(name: str) -> None:
    with pytest.raises(GraphTrialError, match="cannot be imported: it"):
        parse(f"ogb:{name}")


@pytest.mark.parametrize("task", sorted({e.task for e in (*OGB.values(), *LRGB.values()) if e.task}))
def test_tasks_of_the_catalog_exist(task: str) -> None:
    assert declared_task(task).name == task.partition(":")[0]


@pytest.mark.parametrize("part", ["graphproppred", "nodeproppred", "linkproppred"])
def test_metrics_are_those_of_the_evaluators(part: str) -> None:
    package = importlib.util.find_spec("ogb")  # not imported: it would look for a newer version in the internet
    if package is None or package.origin is None:
        pytest.skip("ogb is not installed")
    with (Path(package.origin).parent / part / "master.csv").open() as stream:
        header, *rows = csv.reader(stream)
    facts = {row[0]: dict(zip(header[1:], row[1:], strict=True)) for row in rows}
    assert {name.lower() for name in header[1:]} == {name for name in OGB if name[:4] == f"ogb{part[0]}"}
    for name in header[1:]:
        entry = OGB[name.lower()]
        if entry.refused:
            continue
        metric = facts["eval metric"][name]
        task = declared_task(entry.task or "")
        assert entry.task is not None
        assert entry.task.endswith(f"metric={METRICS.get(metric, metric)}")
        kind = "link-ranking" if name in RANKED else facts["task type"][name]
        assert task.name.endswith(TYPES.get(kind, kind.replace(" ", "-")))
