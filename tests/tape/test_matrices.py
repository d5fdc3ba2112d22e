"""Linear layers of embeddings and of joined matrices have the bits of the ordinary path."""

from __future__ import annotations

import pytest
import torch
from tests.helpers.programs import assert_equal, both, build, is_recorded
from tests.helpers.samples import EDGE_TYPES, NODE_TYPES
from torch import Tensor, nn

from graphtrial.core.process import seed_everything
from graphtrial.graphs import GraphBatch
from graphtrial.nn import Shapes
from graphtrial.nn.block import BlockConfig
from graphtrial.nn.conv.base import Conv
from graphtrial.nn.layers import Linear
from graphtrial.nn.stacked import GNN
from graphtrial.ops import aggregate
from graphtrial.tape import codes
from graphtrial.tape.runner import TapedModel


def codes_of(taped: TapedModel) -> list[int]:
    program = taped._programs[True]
    assert program is not None
    return [int(code) for code in (*program.forward[:, 0], *program.backward[:, 0])]


@pytest.mark.parametrize("name", ["gat", "monet", "gatedgcn", "mlp"])
def test_the_table_of_embeddings_is_multiplied(name: str) -> None:
    ours, theirs, taped = both(build(name, encoding_dim=0))
    assert is_recorded(taped)
    assert codes_of(taped).count(codes.EMBED) >= 2
    assert_equal(ours, theirs)


@pytest.mark.parametrize("encoding_dim", [0, 3])
@pytest.mark.parametrize("settings", [{"aggregator": "mean"}, {"aggregator": "max"}, {"l2": False}])
def test_graphsage_reads_both_halves_in_place(settings: dict[str, object], encoding_dim: int) -> None:
    ours, theirs, taped = both(build("graphsage", encoding_dim=encoding_dim, **settings))
    assert is_recorded(taped)
    instructions = codes_of(taped)
    assert instructions.count(codes.STARTED_LINEAR) == (0 if encoding_dim else 1)
    assert codes.JOINED_LINEAR in instructions
    assert codes.JOINED_LINEAR_WEIGHT in instructions
    assert codes.JOIN_COLUMNS not in instructions
    assert_equal(ours, theirs)


@pytest.mark.parametrize("name", ["gcn", "graphsage"])
@pytest.mark.parametrize("width", [7, 12])
def test_widths_without_register_tiles_are_recorded(name: str, width: int) -> None:
    ours, theirs, taped = both(build(name, encoding_dim=0, width=width))
    assert is_recorded(taped)
    assert_equal(ours, theirs)


class Twice(Conv):
    """A layer that reads a concatenation several times, and one of its halves in between."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first, self.second = Linear(2 * width, width), Linear(2 * width, width, bias=False)

    def forward(self, graph: GraphBatch, x: Tensor, e: Tensor | None) -> tuple[Tensor, Tensor | None]:
        both = torch.cat([x, aggregate(graph, x, "sum")], dim=1)
        between = aggregate(graph, x, "mean")
        return self.first(both) + between + self.second(both), e


def test_a_concatenation_may_be_read_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "graphtrial.tape.recorder.PACKAGES", ("graphtrial.nn.", "torch.nn.modules.", "tests.", __name__)
    )
    seed_everything(0)
    shapes = Shapes(outputs=2, level="graph", node_types=NODE_TYPES, edge_types=EDGE_TYPES)
    block = BlockConfig(batch_norm=True, residual=True, dropout=0.0)
    model: nn.Module = GNN(shapes, [Twice(24), Twice(24)], block, width=24, readout="mean", layer_heads=False)
    ours, theirs, taped = both(model)
    assert is_recorded(taped)
    assert_equal(ours, theirs)
