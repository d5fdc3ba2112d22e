"""Recorded programs give the bits of the models that they were recorded from."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from tests.helpers.layers import accepted_settings, levels_of
from tests.helpers.programs import BATCHES, assert_equal, both, build, is_recorded, train
from tests.helpers.samples import EDGE_TYPES, ENCODING, NODE_TYPES, batch_of
from tests.helpers.sampling import rotating
from torch import Tensor, nn

from graphtrial.core.hardware import threads
from graphtrial.core.process import compute_settings, seed_everything
from graphtrial.graphs import GraphBatch
from graphtrial.nn import MODELS, Shapes, build_model
from graphtrial.nn.block import BlockConfig
from graphtrial.nn.conv.base import Conv
from graphtrial.nn.stacked import GNN
from graphtrial.ops import aggregate
from graphtrial.ops.portable import portable_path
from graphtrial.tape.memory import LARGE_ARENA
from graphtrial.tape.runner import TapedModel, aligned
from graphtrial.training.optim.fused import FusedAdam, FusedSGD

RECORDED = ("mlp", "gcn", "gcn-vanilla", "gin", "graphsage", "gat", "monet", "gatedgcn", "gin-eps")
"""Models that take the tape by default, at a width with register tiles."""
OPTIONS: dict[str, dict[str, Any]] = {
    "default": {},
    "without norm": {"batch_norm": False},
    "without residual": {"residual": False},
    "dropout": {"dropout": 0.3},
    "graph norm": {"graph_norm": True},
    "sum": {"readout": "sum"},
    "max": {"readout": "max"},
    "layer heads": {"layer_heads": True},
    "one head": {"layer_heads": False},
    "edge features": {"edge_features": True},
    "layer norm": {"batch_norm": False, "layer_norm": True},
    "gru": {"gru": True},
    "self-loops": {"self_loops": True},
}
LEVELS = ("graph", "node", "edge", "node and graph")


STACKED = [name for name in MODELS if isinstance(MODELS.get(name), type) and issubclass(MODELS.get(name), Conv)]


@pytest.mark.parametrize(("name", "option", "level"), rotating([*STACKED, "gin-eps"], OPTIONS, LEVELS))
def test_a_program_has_the_bits_of_its_model(name: str, option: str, level: str) -> None:
    level = level if level in levels_of(name) else "graph"
    settings = {} if (name, option) == ("gin-eps", "max") else accepted_settings(name, **OPTIONS[option])
    ours, theirs, _ = both(build(name, level, **settings))
    assert_equal(ours, theirs)


@pytest.mark.parametrize("name", RECORDED)
def test_these_models_are_recorded(name: str) -> None:
    ours, theirs, taped = both(build(name))
    assert is_recorded(taped)
    assert_equal(ours, theirs)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("gin-plus", {"edge_features": True, "dropout": 0.1}),
        ("gin-plus", {"edge_features": True, "batch_norm": True, "head": "san", "readout": "sum"}),
        ("gps", {"edge_features": True, "local": "gine", "heads": 4, "attention_dropout": 0.5, "dropout": 0.1}),
        ("gps", {"edge_features": True, "local": "gatedgcn", "heads": 2}),
        ("gps", {"local": "none", "heads": 4}),
        ("gatedgcn-plus", {"edge_features": True}),
        ("gcn-plus", {"edge_features": True, "dropout": 0.1}),
        ("gcn-plus", {"edge_features": True, "convolution": "edge-sum", "residual": False}),
        ("pna", {"edge_features": True, "width": 48, "dropout": 0.1}),
        ("pna", {"width": 48, "towers": 3, "divide_input": False, "narrowing": 2, "graph_norm": False}),
        ("pna", {"edge_features": True, "towers": 1, "aggregators": "max", "scalers": "identity"}),
    ],
)
@pytest.mark.parametrize("encoded", [False, True])
def test_modern_models_are_recorded(name: str, settings: dict[str, Any], encoded: bool) -> None:
    seed_everything(3)
    shapes = Shapes(2, "graph", node_types=NODE_TYPES, edge_types=EDGE_TYPES, encoding_dim=ENCODING if encoded else 0)
    ours, theirs, taped = both(build_model(name, shapes, {"width": 24, "layers": 2, **settings}))
    assert is_recorded(taped)
    assert_equal(ours, theirs)


@pytest.mark.parametrize("option", [name for name in OPTIONS if name not in ("layer norm", "gru", "self-loops")])
@pytest.mark.parametrize("name", ["gatedgcn", "gin", "gat", "monet", "graphsage"])
def test_these_options_are_recorded(name: str, option: str) -> None:
    ours, theirs, taped = both(build(name, "graph", **accepted_settings(name, **OPTIONS[option])))
    ordinary = option == "without norm" and name in ("gatedgcn", "gat")  # one vector of all edges; ELU by torch
    assert is_recorded(taped) != ordinary
    assert_equal(ours, theirs)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", ["gcn", "gin", "gatedgcn"])
def test_every_level_is_recorded(name: str, level: str) -> None:
    ours, theirs, taped = both(build(name, level))
    assert is_recorded(taped)
    assert_equal(ours, theirs)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (FusedAdam, {"weight_decay": 0.1}),
        (FusedAdam, {"weight_decay": 0.1, "decoupled": True, "amsgrad": True}),
        (FusedSGD, {"momentum": 0.9, "weight_decay": 0.1}),
    ],
)
def test_every_optimizer_gets_the_same_gradients(kind: Any, options: dict[str, Any]) -> None:
    ours, theirs, taped = both(build("gatedgcn"), kind, **options)
    assert is_recorded(taped)
    assert_equal(ours, theirs)


def test_the_ordinary_path_has_the_same_bits_on_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "MIN_WORK", 1)
    ours, _, _ = both(build("gatedgcn"))
    for number in (1, 2, 3, 4):
        model = build("gatedgcn")
        with compute_settings(number):
            assert_equal(ours, train(model, model, FusedAdam(model.parameters(), lr=1e-2)))


def test_gradients_of_several_batches_are_added() -> None:
    model = build("gin")
    other = copy.deepcopy(model)
    for each, call in ((model, TapedModel(model)), (other, other)):
        for batch in BATCHES[:2]:
            call(batch).sum().backward()
        assert all(parameter.grad is not None for parameter in each.parameters())
    assert_equal([p.grad for p in model.parameters()], [p.grad for p in other.parameters()])  # type: ignore[misc]


class Plugin(Conv):
    """A layer of somebody else, which may do anything."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, graph: GraphBatch, x: Tensor, e: Tensor | None) -> tuple[Tensor, Tensor | None]:
        return self.linear(aggregate(graph, x, "mean")), e


def test_a_plugin_layer_takes_the_ordinary_path() -> None:
    seed_everything(0)
    shapes = Shapes(outputs=2, level="graph", node_types=NODE_TYPES)
    block = BlockConfig(batch_norm=True, residual=True, dropout=0.0)
    model = GNN(shapes, [Plugin(24), Plugin(24)], block, width=24, readout="mean", layer_heads=False)
    ours, theirs, taped = both(model)
    assert taped._programs == {True: None, False: None}
    assert_equal(ours, theirs)


def test_a_hook_takes_the_ordinary_path() -> None:
    model, seen = build("gcn"), []
    model.blocks[0].register_forward_hook(lambda *arguments: seen.append(1))  # type: ignore[union-attr, operator]
    TapedModel(model)(BATCHES[0])
    assert seen


def test_the_portable_path_and_double_precision_are_not_recorded() -> None:
    model = build("gcn")
    taped = TapedModel(model)
    with portable_path():
        taped(BATCHES[0])
    assert taped._programs == {}
    double = TapedModel(build("gcn").double())
    double(batch_in_double(BATCHES[0]))
    assert double._programs == {True: None}


def batch_in_double(batch: GraphBatch) -> GraphBatch:
    return batch.with_column("encoding", batch.columns["encoding"].double())


def test_a_batch_without_edges_takes_the_ordinary_path() -> None:
    model = build("gcn")
    bare = batch_of([(4, []), (3, [])])
    torch.testing.assert_close(TapedModel(model)(bare), copy.deepcopy(model)(bare), rtol=0, atol=0)


@pytest.mark.parametrize(
    ("name", "widths"),
    [("gcn", (24, 24)), ("gatedgcn", (24, 24)), ("graphsage", (48, 24)), ("gat", (24, 24)), ("mlp", (24, 1))],
)
def test_size_of_a_batch_counts_what_is_computed_per_node_and_per_edge(name: str, widths: tuple[int, int]) -> None:
    taped = TapedModel(build(name))  # the places of maxima of GraphSage take 64 bits
    taped(BATCHES[0])
    program = taped._programs[True]
    assert program is not None
    assert (program.node_width, program.edge_width) == widths


def test_a_program_larger_than_the_cache_has_the_bits_of_its_model() -> None:
    model = build("gin-plus", encoding_dim=0, width=80, layers=6, edge_features=True, dropout=0.0)
    ours, theirs, taped = both(model)
    assert_equal(ours, theirs)
    program = taped._programs[True]
    assert program is not None
    program.fits(BATCHES[-1])
    assert int(program.elements @ program.sizes) > LARGE_ARENA


def test_an_arena_begins_with_a_cache_line() -> None:
    blocks = [aligned(count) for count in (1, 17, 1000, 70_001)]
    assert [block.ctypes.data % 64 for block in blocks] == [0, 0, 0, 0]
    assert [len(block) for block in blocks] == [1, 17, 1000, 70_001]
