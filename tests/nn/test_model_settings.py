"""Settings: completed by defaults; unknown and invalid ones raise."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import torch
from tests.helpers.layers import WIDE_MODELS
from tests.helpers.samples import graph_set, random_graphs, whole

from graphtrial.core.errors import GraphTrialError, UnknownNameError
from graphtrial.core.spec import digest
from graphtrial.graphs import Column, GraphSet
from graphtrial.nn import Shapes, build_model, model_settings, resolve_settings
from graphtrial.published import published_results
from graphtrial.studies import ModelEntry
from graphtrial.studies.study import choose_settings
from graphtrial.tasks import GraphRegression

SHAPES = Shapes(outputs=1, level="graph", node_types=28)


@pytest.mark.parametrize("name", WIDE_MODELS)
def test_every_model_has_defaults_for_all_but_the_width(name: str) -> None:
    assert [key for key, value in model_settings(name).items() if value is None] == ["width"]
    assert resolve_settings(name, {"width": 8}) == {**model_settings(name), "width": 8}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"widht": 8}, "model 'gcn' has no setting 'widht'. Did you mean 'width'? Known settings: batch_norm, "),
        ({"width": 8, "layer": 8}, "model 'gcn' has no setting 'layer'. Did you mean 'layer"),
        ({"width": 8, "drop_out": 0.1}, "Did you mean 'dropout'?"),
        ({"width": 8, "edge_features": True}, "model 'gcn' has no setting 'edge_features'."),
    ],
)
def test_unknown_setting_names_the_nearest_one(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UnknownNameError, match=re.escape(message)):
        resolve_settings("gcn", given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "model 'gcn' needs a width, for example --set width=64 or --budget 100k"),
        ({"width": None}, "model 'gcn' needs a width"),
        *(
            ({"width": value}, f"width of model 'gcn' must be an integer from 1 to 65,536, not {value!r}")
            for value in (0, -3, 2.5, 64.0, "64", True, float("nan"))
        ),
        ({"width": 8, "layers": 0}, "layers of model 'gcn' must be an integer from 1 to 1,000, not 0"),
        *(
            (
                {"width": 8, "layers": value},
                f"layers of model 'gcn' must be an integer from 1 to 1,000, not {value!r}",
            )
            for value in (2.5, "4", True, None)
        ),
        *(
            ({"width": 8, "dropout": value}, "dropout of model 'gcn' must be a finite number of at least 0 and below 1")
            for value in (-0.1, 1, 1.0, 7, float("nan"), float("inf"), "0.1", True, None)
        ),
        *(
            ({"width": 8, "residual": value}, f"residual of model 'gcn' must be true or false, not {value!r}")
            for value in (1, "true", None)
        ),
        ({"width": 8, "readout": 3}, "readout of model 'gcn' must be 'mean' or 'sum' or 'max' or 'set2set', not 3"),
        (
            {"width": 8, "readout": "median"},
            "readout of model 'gcn' must be 'mean' or 'sum' or 'max' or 'set2set', not 'median'",
        ),
    ],
)
def test_invalid_setting_raises_before_building(given: dict[str, Any], message: str) -> None:
    with pytest.raises(GraphTrialError, match=re.escape(message)):
        resolve_settings("gcn", given)


def test_equal_settings_have_one_identity() -> None:
    written = [{"width": 8}, {"width": 8, "dropout": 0}, {"width": 8, "dropout": 0.0, "layers": 4}]
    assert len({digest(resolve_settings("gcn", given)) for given in written}) == 1


def test_given_settings_are_not_modified() -> None:
    given: dict[str, Any] = {"width": 8, "dropout": 0}
    build_model("gcn", SHAPES, given)
    assert given == {"width": 8, "dropout": 0}
    assert isinstance(given["dropout"], int)


def test_unknown_model_names_the_nearest_one() -> None:
    with pytest.raises(UnknownNameError, match=r"no model called 'gatedgnc'\. Did you mean 'gatedgcn'\?"):
        build_model("gatedgnc", SHAPES, {"width": 8})


@pytest.mark.parametrize("width", [1, 2, 3])
def test_too_small_width_raises(width: int) -> None:
    with pytest.raises(GraphTrialError, match=f"a width of {width} leaves nothing: use 4 or more"):
        build_model("gcn", SHAPES, {"width": width})
    build_model("gin", SHAPES, {"width": width})  # its heads are linear


def test_shapes_are_inferred_from_the_columns() -> None:
    columns = {"x": Column(np.array([0, 4, 2]), "node", types=7), "edge_attr": Column(np.zeros((1, 3)), "edge")}
    graphs = GraphSet.build([3], [1], [[0], [1]], columns)
    expected = Shapes(2, "graph", node_types=7, edge_dim=3, num_nodes=3, mean_nodes=3.0, degree_histogram=(2, 1))
    assert Shapes.of(graphs, GraphRegression(2)) == expected
    assert expected.mean_log_degree == pytest.approx(np.log(2) / 3)
    encoded = Shapes.of(graphs, GraphRegression(2), encoding_dim=5, encoding_replaces=True)
    assert (encoded.encoding_dim, encoded.encoding_replaces) == (5, True)
    bare = GraphSet.build([3], [0], np.zeros((2, 0)))
    assert Shapes.of(bare, GraphRegression()) == Shapes(
        outputs=1, level="graph", num_nodes=3, mean_nodes=3.0, degree_histogram=(3,)
    )


def test_several_categories_per_node_are_counted_by_column() -> None:
    columns = {"x": Column(np.array([[0, 4], [2, 0], [1, 1]]), "node", types=5)}
    shapes = Shapes.of(GraphSet.build([3], [0], np.zeros((2, 0)), columns), GraphRegression())
    assert (shapes.node_type_counts, shapes.edge_type_counts) == ((3, 5), ())
    with pytest.raises(GraphTrialError, match="2 categories per node or edge, but graphormer embeds a single one"):
        build_model("graphormer", shapes, {"width": 16, "layers": 1})


def test_gated_mlp_sums_over_nodes_as_released() -> None:
    assert resolve_settings("mlp", {"width": 8})["readout"] == "mean"
    assert resolve_settings("mlp", {"width": 8, "gated": True})["readout"] == "sum"
    assert resolve_settings("mlp", {"width": 8, "gated": True, "readout": "mean"})["readout"] == "mean"
    row = ModelEntry("mlp", {"gated": True})
    assert (
        choose_settings("zinc", lambda: SHAPES, row, None)["readout"] == "sum"
    )  # before the released ungated configuration
    torch.manual_seed(0)
    model: Any = build_model("mlp", SHAPES, {"width": 8, "gated": True, "layers": 2}).double()
    batch = whole(graph_set(random_graphs(4, seed=1)))
    x = model.node_encoder(batch)
    for block in model.blocks:
        x = block.conv.linear(x).relu()
    x = x * model.gate(x).sigmoid()
    sums = torch.stack([x[batch.batch == graph].sum(0) for graph in range(batch.num_graphs)])
    torch.testing.assert_close(model(batch), model.head.maps[0](sums))


def test_printed_rows_of_the_gated_mlp_sum_over_nodes() -> None:
    models = [model for row in published_results("bgnn-v1") if row.printed.model == "MLP-Gated" for model in row.models]
    assert models
    for model in models:
        assert model.settings["gated"]
        assert resolve_settings(model.name, dict(model.settings))["readout"] == "sum"
