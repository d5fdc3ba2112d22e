"""SAN's positions: eigenpairs by a transformer encoder, concatenated with the features."""

from __future__ import annotations

import pytest
import torch
from tests.helpers.samples import batch_of, random_graphs

from graphtrial.core.errors import GraphTrialError
from graphtrial.nn import Shapes, build_model
from graphtrial.nn.shapes import EncodingShape

PAIRS = Shapes(
    outputs=2,
    level="node",
    node_types=28,
    edge_types=4,
    encoding_dim=6,
    encodings=(EncodingShape("laplacian-pairs", 6),),
)


def test_missing_eigenpairs_are_masked() -> None:
    torch.manual_seed(0)
    batch = batch_of(random_graphs(4, seed=0))
    values = torch.randn(batch.num_nodes, 6)
    values[:, [2, 5]] = torch.nan  # the third pair
    model = build_model("san", PAIRS, {"width": 16, "layers": 2, "position_width": 8}).eval()
    out = model(batch.with_column("encoding", values))
    assert out.isfinite().all()
    fewer = build_model("san", PAIRS, {"width": 16, "layers": 2, "position_width": 8}).eval()
    fewer.load_state_dict(model.state_dict())
    torch.testing.assert_close(fewer(batch.with_column("encoding", values[:, [0, 1, 3, 4]])), out)


def test_position_width_must_be_below_the_width() -> None:
    with pytest.raises(GraphTrialError, match="position_width must be below the width 16, not 16"):
        build_model("san", PAIRS, {"width": 16, "position_width": 16})


def test_pairs_without_an_edge_have_the_first_category() -> None:
    torch.manual_seed(0)
    batch = batch_of(random_graphs(4, seed=0))
    shapes = Shapes(outputs=2, level="node", node_types=28, edge_types=4)
    model = build_model("san", shapes, {"width": 16, "layers": 1, "edge_features": True}).eval()
    ones = batch.with_column("edge_attr", torch.ones_like(batch.edge_attr))
    before = model(ones)
    model.pair_encoder.encoder.feature.weight.data[2:] += 1  # of no pair
    assert torch.equal(model(ones), before)
    model.pair_encoder.encoder.feature.weight.data[0] += 1  # of pairs without an edge
    assert not torch.equal(model(ones), before)
