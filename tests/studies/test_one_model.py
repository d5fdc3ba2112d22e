"""The model of a row: released settings beside other sizes, and the logits of the protocol."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from graphtrial.nn import parameter_count, resolve_settings
from graphtrial.studies import ModelEntry, Study
from graphtrial.studies.one_model import shapes_and_settings
from graphtrial.trials.shapes import planned_shapes

MODELS = [("gps", "gps/zinc", "rwse:20"), ("gin-plus", "gnnplus/zinc", "rwse:32"), ("pna", "pna/zinc", "none")]


def settings_of(model: str, protocol: str, encoding: str, budget: str | None = None, **given: Any) -> dict[str, Any]:
    row = ModelEntry(model, given, (encoding,), budget, released=True)
    shapes, settings = shapes_and_settings(
        Study("", "zinc", (row,), protocol=protocol), partial(planned_shapes, "zinc")
    )
    assert budget is None or parameter_count(model, shapes, settings) <= 100_000
    return resolve_settings(model, settings)


@pytest.mark.parametrize(
    "sizes", [{"layers": 3}, {"width": 80}, {"width": 80, "layers": 3}, {"budget": "100k", "layers": 3}]
)
@pytest.mark.parametrize(("model", "protocol", "encoding"), MODELS)
def test_a_size_changes_no_other_released_setting(model: str, protocol: str, encoding: str, sizes: Any) -> None:
    released, ours = settings_of(model, protocol, encoding), settings_of(model, protocol, encoding, **sizes)
    expected = {**released, **{key: value for key, value in sizes.items() if key != "budget"}}
    if "budget" in sizes:
        expected["width"] = ours["width"]
    assert released["edge_features"]
    assert ours == expected


def test_explicit_settings_override_released_ones() -> None:
    ours = settings_of("gps", "gps/zinc", "rwse:20", layers=3, local="gatedgcn", edge_features=False)
    assert (ours["local"], ours["edge_features"], ours["head"]) == ("gatedgcn", False, "san")


def test_rows_of_study_files_have_their_own_settings_alone() -> None:
    row = ModelEntry("gps", {"width": 64}, ("rwse:20",))
    _, settings = shapes_and_settings(Study("", "zinc", (row,), protocol="gps/zinc"), partial(planned_shapes, "zinc"))
    assert settings == {"width": 64}
