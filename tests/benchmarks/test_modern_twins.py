"""The released form of GIN+, Exphormer and GRIT in the benchmarks has the parameters of ours."""

from __future__ import annotations

import pytest

from benchmarks.modern import MODELS, twin
from graphtrial.nn import Shapes, count_parameters, parameter_count

SHAPES = Shapes(outputs=1, level="graph", node_types=28, edge_types=4)


@pytest.mark.parametrize("model", MODELS)
def test_twins_are_of_the_same_size(model: str) -> None:
    settings = {**MODELS[model][1], "head": "san", "readout": "sum"}
    assert count_parameters(twin(model)) == parameter_count(model, SHAPES, settings)
