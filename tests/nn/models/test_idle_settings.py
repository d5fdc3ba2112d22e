"""Settings that have no effect beside the other ones are refused, not ignored."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.helpers.samples import EDGE_TYPES, NODE_TYPES

from graphtrial.core.errors import GraphTrialError
from graphtrial.nn import Shapes, build_model
from graphtrial.nn.shapes import EncodingShape

SHAPES = Shapes(outputs=1, level="graph", node_types=NODE_TYPES, edge_types=EDGE_TYPES)


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("gps", {"local": "none", "attention": "none"}, "gps needs local=gatedgcn or gine, or attention"),
        ("gps", {"attention": "none", "graph_token": True}, "reached by attention alone"),
        ("exphormer", {"expander": "none", "attend_edges": False, "virtual_nodes": 0}, "attends to nothing"),
        ("gatedgcn-lspe", {"eigen_loss": 1.0}, "add --encoding rwse:20"),
    ],
    ids=str,
)
def test_settings_without_an_effect_raise(name: str, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(GraphTrialError, match=message) as raised:
        build_model(name, SHAPES, {"width": 8, **settings})
    assert len(str(raised.value).splitlines()) == 1


@pytest.mark.parametrize("part", ["laplacian", "random-walk"])
def test_encoders_of_eigenpairs_raise_for_another_encoding(part: str) -> None:
    shapes = replace(SHAPES, encoding_dim=8, encodings=(EncodingShape(part, 8),))
    with pytest.raises(GraphTrialError, match="--encoding laplacian-pairs:8"):
        build_model("gps", shapes, {"width": 16, "eigen_encoder": "transformer"})
    build_model("gps", shapes, {"width": 16})
