"""Every published parameter count, exactly."""

from __future__ import annotations

from typing import Any

import pytest

from graphtrial.nn import Shapes, build_model, count_parameters
from graphtrial.published import Configuration, configurations

ZINC = Shapes(outputs=1, level="graph", node_types=28, edge_types=4)
ZINC_PE = Shapes(outputs=1, level="graph", node_types=28, edge_types=4, encoding_dim=8)
CSL = Shapes(outputs=10, level="graph", node_types=1, edge_types=1)
CSL_PE = Shapes(outputs=10, level="graph", node_types=1, edge_types=1, encoding_dim=20, encoding_replaces=True)
SHAPES = {"none": {"ZINC": ZINC, "CSL": CSL}, "laplacian:8": {"ZINC": ZINC_PE}, "laplacian:20": {"CSL": CSL_PE}}

RELEASED = [config for config in configurations("bgnn-v5") if config.printed.dataset in ("ZINC", "CSL")]


def label(config: Configuration) -> str:
    return f"{config.printed.dataset}-{config.model}{config.printed.variant}-{config.params}"


@pytest.mark.parametrize("config", RELEASED, ids=label)
def test_released_configuration_has_exactly_its_parameters(config: Configuration) -> None:
    model = build_model(config.model, SHAPES[config.encoding][config.printed.dataset], dict(config.settings))
    assert count_parameters(model) == config.params


def test_released_configurations_cover_the_first_five_models() -> None:
    assert {config.model for config in RELEASED} >= {"mlp", "gcn", "gcn-vanilla", "gin", "gatedgcn"}
    assert len(RELEASED) >= 18


@pytest.mark.parametrize(
    ("name", "shapes", "settings", "params"),
    [
        ("mlp", ZINC, {"width": 150, "layers": 4}, 108975),
        ("gcn", ZINC, {"width": 145, "layers": 4}, 103077),
        ("gcn", ZINC, {"width": 172, "layers": 16}, 505079),
        ("gcn-vanilla", ZINC, {"width": 145, "layers": 4}, 103077),
        ("gcn-vanilla", ZINC, {"width": 172, "layers": 16}, 505079),
        ("gin", ZINC, {"width": 110, "layers": 4}, 103079),
        ("gin", ZINC, {"width": 124, "layers": 16}, 509549),
        ("gatedgcn", ZINC, {"width": 70, "layers": 4}, 105735),
        ("gatedgcn", ZINC, {"width": 70, "layers": 4, "edge_features": True}, 105875),
        ("gatedgcn", ZINC, {"width": 78, "layers": 16, "edge_features": True}, 504309),
        ("gatedgcn", ZINC_PE, {"width": 78, "layers": 16, "edge_features": True}, 505011),
        ("mlp", CSL_PE, {"width": 145, "layers": 4}, 101235),
        ("gcn", CSL_PE, {"width": 146, "layers": 4}, 103847),
        ("gatedgcn", CSL_PE, {"width": 70, "layers": 4}, 105407),
        ("gin", CSL_PE, {"width": 110, "layers": 4}, 107304),
    ],
)
def test_published_row_has_exactly_its_parameters(
    name: str, shapes: Shapes, settings: dict[str, Any], params: int
) -> None:
    assert count_parameters(build_model(name, shapes, settings)) == params
