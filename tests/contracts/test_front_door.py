"""`import graphtrial as gt` offers every registered built-in class, and loads nothing heavy until it is used."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

import graphtrial as gt
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.plugins.imports import CLASS_NAME
from graphtrial.graphs import GraphBatch
from graphtrial.nn import count_parameters
from graphtrial.nn.conv.gin import GIN
from graphtrial.trials.shapes import shapes_for

DOORS = {
    "datasets": gt.DATASETS,
    "encodings": gt.ENCODINGS,
    "kernels": gt.kernels.KERNELS,
    "metrics": gt.METRICS,
    "nn": gt.MODELS,
    "tasks": gt.TASKS,
}


def test_import_graphtrial_imports_neither_torch_nor_registries() -> None:
    code = (
        "import sys, graphtrial as gt; dir(gt); print(sorted({'torch', 'numpy', 'sklearn', 'scipy', "
        "'graphtrial.datasets', 'graphtrial.nn'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("door", DOORS)
def test_every_registered_class_is_an_attribute_of_its_package(door: str) -> None:
    package, registry = getattr(gt, door), DOORS[door]
    names: dict[str, str] = {}
    for name in registry.names():
        kind: Any = registry.get(name)
        if not kind.__module__.startswith("graphtrial."):
            continue  # of a plug-in
        assert CLASS_NAME.fullmatch(kind.__name__)
        assert kind.__name__ not in names, f"{name} and {names[kind.__name__]} share a class name"
        names[kind.__name__] = name
        assert getattr(getattr(package, kind.__name__), "layer_class", getattr(package, kind.__name__)) is kind
    assert set(names) <= set(dir(package))


@pytest.mark.parametrize(
    "path",
    [
        *("datasets.ZINC", "datasets.MUTAG", "datasets.PATTERN", "nn.GIN", "nn.GINE", "kernels.WeisfeilerLehman"),
        *("kernels.WeisfeilerLehmanOptimalAssignment", "kernels.ShortestPath", "encodings.LaplacianPE"),
        *("encodings.RandomWalkPE", "metrics.MAE", "metrics.ROCAUC", "tasks.GraphRegression"),
        *("load", "build", "run", "run_study", "compare", "report", "load_results", "from_pyg"),
    ],
)
def test_top_level_names_are_available(path: str) -> None:
    thing: Any = gt
    for part in path.split("."):
        assert part in dir(thing)
        thing = getattr(thing, part)
    assert inspect.getdoc(thing)


@pytest.mark.parametrize("door", DOORS)
def test_missing_name_raises_attribute_error(door: str) -> None:
    with pytest.raises(AttributeError, match=f"module 'graphtrial.{door}' has no attribute 'Nothing'"):
        _ = getattr(gt, door).Nothing
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = gt.nothing  # type: ignore[attr-defined]


def test_class_of_gt_nn_builds_the_whole_model() -> None:
    data = gt.load(gt.datasets.CSL)
    assert data.hash == gt.load("csl").hash
    models = []
    for make in (
        lambda: gt.build("gin", "csl", width=8, layers=2),
        lambda: gt.build(gt.nn.GIN, gt.datasets.CSL, width=8, layers=2),
        lambda: gt.build(GIN, data, width=8, layers=2),
        lambda: gt.nn.GIN(shapes_for(data, None), width=8, layers=2),
    ):
        torch.manual_seed(0)
        models.append(make().eval())
    assert isinstance(models[-1], gt.nn.GIN)
    batch = GraphBatch.from_set(data.graphs, [0, 1, 2])
    first, *others = (model(batch) for model in models)
    assert first.shape == (3, 10)
    assert all(torch.equal(first, other) for other in others)
    assert {"shapes", "width", "layers", "readout"} <= set(inspect.signature(gt.nn.GIN).parameters)


def test_unregistered_class_gives_one_line_error() -> None:
    with pytest.raises(GraphTrialError, match="is not a registered model"):
        gt.build(torch.nn.Linear, "csl")


def test_encoding_may_be_a_string_or_an_instance() -> None:
    instance = gt.encodings.LaplacianPE(k=20, sign="absolute")
    text = "laplacian:20,sign=absolute"
    counts = [
        count_parameters(gt.build("gcn", "csl", encoding=encoding, width=8)) for encoding in (instance, text, "none")
    ]
    assert counts[0] == counts[1] > counts[2]


@pytest.mark.usefixtures("mirror")
def test_build_takes_the_sizes_released_for_a_protocol() -> None:
    protocols = {"pna/zinc": 95111, "lspe/zinc-no-positions": 369235}
    built = {name: count_parameters(gt.build("pna", "zinc", protocol=name)) for name in protocols}
    assert built == protocols


@pytest.mark.parametrize(("edition", "convolution"), [("sound", "gcn-edges"), ("as-published", "edge-sum")])
def test_build_and_run_take_an_edition(edition: str, convolution: str, tmp_path: Path) -> None:
    sizes = {"width": 8, "layers": 2}
    built, explicit = (
        gt.build("gcn-plus", "csl", edition=edition, **sizes),
        gt.build("gcn-plus", "csl", convolution=convolution, **sizes),
    )
    assert built.state_dict().keys() == explicit.state_dict().keys()
    row = gt.run(
        "csl",
        "gcn-plus",
        settings=sizes,
        edition=edition,
        seeds=1,
        splits=1,
        store=tmp_path / "store.sqlite",
        rules={"stopping.max_epochs": 1},
    )
    assert row.first.spec.settings["convolution"] == convolution


def test_build_refuses_an_unknown_protocol() -> None:
    with pytest.raises(GraphTrialError, match="pna/zinc"):
        gt.build("pna", "csl", protocol="pna/zink")


@pytest.mark.slow
def test_run_takes_an_instance_of_an_encoding(tmp_path: Path) -> None:
    rules, store = {"stopping.max_epochs": 1}, tmp_path / "store.sqlite"
    rows = [
        gt.run("csl", "gcn", encoding=encoding, settings={"width": 8}, seeds=1, splits=1, rules=rules, store=store)
        for encoding in (gt.encodings.LaplacianPE(k=4), "laplacian:4")
    ]
    assert rows[0].id == rows[1].id
    assert rows[0].encoding == "laplacian:4"
