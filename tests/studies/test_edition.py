"""Editions of modern models: settings, encodings and protocols of the released code, and what they change in numbers.

Both sides of each difference are tested against loops over nodes and pairs: convolutions of GCN+, walks of GRIT and
expanders in `tests/nn/models`, scores of batches in `tests/tasks`, eigenvectors in `tests/encodings`.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tests.helpers.graphgps import SIMPLE, batch, shaken
from tests.helpers.samples import EDGE_TYPES, NODE_TYPES

from graphtrial.nn import Shapes, build_model
from graphtrial.studies import ModelEntry, Study, load_study
from graphtrial.studies.edition import in_edition
from graphtrial.studies.plan import PlannedRow, plan

SHAPES = Shapes(outputs=3, level="graph", node_types=NODE_TYPES, edge_types=EDGE_TYPES)
DECLARED = {
    "gcn-plus": {"convolution": "edge-sum"},
    "grit": {"walks": "from-source"},
    "exphormer": {"expander_loops": True},
}


def rows_of(name: str, edition: str) -> dict[str, PlannedRow]:
    """The last row of each model."""
    return {row.model.name: row for row in plan(in_edition(load_study(name), edition))}


def test_released_faults_come_with_the_published_edition() -> None:
    sound, published = rows_of("modern/pattern", "sound"), rows_of("modern/pattern", "as-published")
    assert sound == {row.model.name: row for row in plan(load_study("modern/pattern"))}
    for model, settings in DECLARED.items():
        assert published[model].settings == {**sound[model].settings, **settings}
        assert published[model].settings != sound[model].settings
    assert published["dgn"].rules.flat()["scoring"] == "batches-softmax-rows"
    assert published["san"].rules.flat()["scoring"] == "batches"
    assert published["san"].encoding != sound["san"].encoding
    assert published["san"].encoding.arguments == {"k": 10, "sign": "fixed", "scale": "rows"}  # type: ignore[union-attr]
    unchanged = ("gps", "san-gps", "gin-plus", "gatedgcn-plus")
    assert all(published[model] == sound[model] for model in unchanged)


def test_what_a_row_says_itself_is_kept() -> None:
    assert rows_of("modern/cluster", "as-published")["gcn-plus"].settings["convolution"] == "gcn"
    rows = (
        ModelEntry("grit", {"width": 8}, grid={"walks": ("from-target", "from-source")}),
        ModelEntry("san", {"width": 8}, ("laplacian-pairs:4,sign=random", "rwse:4+laplacian-pairs:4", "none")),
    )
    grit, san = in_edition(Study("s", "csl", rows), "as-published").rows
    assert grit.settings == {"width": 8}
    assert san.encodings == (
        "laplacian-pairs:4,sign=random,scale=rows",
        "random-walk:4+laplacian-pairs:4,sign=fixed,scale=rows",
        "none",
    )


@pytest.mark.parametrize("model", DECLARED)
def test_the_faults_change_predictions_not_sizes(model: str) -> None:
    both: list[Any] = [
        shaken(build_model(model, SHAPES, {"width": 16, "layers": 2, **settings})).eval()
        for settings in ({}, DECLARED[model])
    ]
    sound, published = both
    published.load_state_dict(sound.state_dict())
    graph = batch([*SIMPLE, (14, [(i, (i + step) % 14) for i in range(14) for step in (1, 2, 13, 12)])])
    difference = (sound(graph) - published(graph)).abs().amax()
    assert difference > 1e-3
    assert torch.isfinite(difference)
