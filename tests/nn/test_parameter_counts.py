"""Every published parameter count, exactly."""

from __future__ import annotations

from typing import Any

import pytest

from graphtrial.nn import MODELS, Shapes, build_model, count_parameters, model_settings
from graphtrial.published import configurations
from graphtrial.published.configs import SETTINGS

ZINC = Shapes(outputs=1, level="graph", node_types=28, edge_types=4)
ZINC_PE = Shapes(outputs=1, level="graph", node_types=28, edge_types=4, encoding_dim=8)
CSL = Shapes(outputs=10, level="graph", node_types=1, edge_types=1)
CSL_PE = Shapes(outputs=10, level="graph", node_types=1, edge_types=1, encoding_dim=20, encoding_replaces=True)
SHAPES = {("ZINC", None): ZINC, ("ZINC", 8): ZINC_PE, ("CSL", None): CSL, ("CSL", 20): CSL_PE}

RELEASED = [
    made for dataset in ("ZINC", "CSL") for made in configurations(dataset) if made["model"].lower() in MODELS.names()
]


def label(made: dict[str, Any]) -> str:
    return f"{made['dataset']}-{made['model']}{made['variant']}-{made['params']}"


@pytest.mark.parametrize("made", RELEASED, ids=label)
def test_a_released_configuration_has_exactly_its_parameters(made: dict[str, Any]) -> None:
    name = made["model"].lower()
    known = model_settings(name)
    settings = {key: made[key] for key in SETTINGS if key in made and key in known}
    ignored = {key for key in SETTINGS if key in made and key not in known}
    assert ignored <= {"edge_features"}, "a setting of the papers is not a setting of this model"
    model = build_model(name, SHAPES[made["dataset"], made["encoding"]], settings)
    assert count_parameters(model) == made["params"]


def test_released_configurations_of_all_five_first_models_are_tried() -> None:
    assert {made["model"] for made in RELEASED} >= {"MLP", "GCN", "GIN", "GatedGCN"}
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
def test_a_published_row_has_exactly_its_parameters(
    name: str, shapes: Shapes, settings: dict[str, Any], params: int
) -> None:
    assert count_parameters(build_model(name, shapes, settings)) == params
