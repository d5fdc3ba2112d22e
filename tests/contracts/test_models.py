"""Contract of every registered model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load, save
from tests.helpers.layers import GRAPH_MODELS, WIDE_MODELS, accepted_settings, levels_of, needs_encoding
from tests.helpers.samples import (
    DEGENERATE,
    EDGE_TYPES,
    ENCODING,
    NODE_TYPES,
    Graph,
    batch_of,
    graph_set,
    random_graphs,
    relabelled,
    skip_links,
    whole,
)
from tests.helpers.sampling import rotating
from torch import Tensor, nn

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.process import seed_everything
from graphtrial.encodings.laplacian import LaplacianPE
from graphtrial.graphs import Column, GraphBatch, GraphSet
from graphtrial.nn import MODELS, Shapes, build_model, count_parameters, model_settings, width_step
from graphtrial.nn.conv import Conv
from graphtrial.nn.conv.gat_edgerepr import EdgeStateGAT
from graphtrial.nn.dense.model import DenseModel
from graphtrial.nn.registry import setting_choices
from graphtrial.ops.portable import portable_path

GRAPHS = [*DEGENERATE, *random_graphs(8, seed=0)]


@dataclass(frozen=True)
class Case:
    """A model with or without edge features and encoding."""

    name: str
    edge_features: bool
    encoding: bool

    level: str = "graph"

    @property
    def whole(self) -> bool:
        """Whether the model uses all inputs that it supports."""
        return self.encoding and self.edge_features == ("edge_features" in model_settings(self.name))

    @property
    def shapes(self) -> Shapes:
        width = ENCODING if self.encoding else 0
        return Shapes(outputs=2, level=self.level, node_types=NODE_TYPES, edge_types=EDGE_TYPES, encoding_dim=width)

    def settings(self, **given: Any) -> dict[str, Any]:
        return {**accepted_settings(self.name, width=16, layers=3, edge_features=self.edge_features), **given}

    def build(self, seed: int = 0, **given: Any) -> nn.Module:
        seed_everything(seed)
        return build_model(self.name, self.shapes, self.settings(**given))

    def used(self) -> nn.Module:
        """The model in double precision, in evaluation, with running statistics of real batches."""
        model = self.build().double()
        model.load_state_dict(_used_state(self))
        return model.eval()


@cache
def _used_state(case: Case) -> dict[str, Tensor]:
    model = case.build().double()
    for data in range(3):
        model(batch_of(GRAPHS, seed=data))
    return model.state_dict()


CASES = [
    Case(name, edge_features, encoding)
    for name in GRAPH_MODELS
    for edge_features in (False, True)
    if not edge_features or "edge_features" in model_settings(name)
    for encoding in (False, True)
    if encoding or not needs_encoding(name)
]


def label(case: Case) -> str:
    return case.name + "-edges" * case.edge_features + "-encoding" * case.encoding


@pytest.fixture(params=[pytest.param(case, marks=() if case.whole else pytest.mark.long) for case in CASES], ids=label)
def case(request: pytest.FixtureRequest) -> Case:
    """Every model with all its inputs; in the long form also with subsets."""
    return request.param


@pytest.fixture(params=CASES, ids=label)
def any_case(request: pytest.FixtureRequest) -> Case:
    return request.param


@pytest.fixture(params=GRAPH_MODELS)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.mark.slow
def test_graph_output_is_permutation_invariant(case: Case) -> None:
    model, graphs = case.used(), graph_set(GRAPHS)
    expected = model(whole(graphs))
    assert expected.std(dim=0).min() > 1e-4  # the outputs are not constant
    for seed in range(3):
        torch.testing.assert_close(model(whole(relabelled(graphs, seed)[0])), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in MODELS if "node" in levels_of(name)])
def test_node_output_is_permutation_equivariant(name: str) -> None:
    model, graphs = Case(name, edge_features=False, encoding=True, level="node").used(), graph_set(GRAPHS)
    expected = model(whole(graphs))
    assert expected.shape == (graphs.num_nodes, 2)
    assert expected.std(dim=0).min() > 1e-4
    for seed in range(3):
        moved, place = relabelled(graphs, seed)
        torch.testing.assert_close(model(whole(moved))[place], expected, rtol=1e-9, atol=1e-9)
    alone = torch.cat([model(GraphBatch.from_set(graphs, [graph])) for graph in range(len(graphs))])
    torch.testing.assert_close(alone, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", [name for name in WIDE_MODELS if "edge" in levels_of(name)])
def test_edge_output_is_permutation_invariant(name: str) -> None:
    model, graphs = Case(name, edge_features=False, encoding=True, level="edge").used(), graph_set(GRAPHS)
    batch = whole(graphs)
    expected = dict(zip(map(tuple, batch.edge_index.T.tolist()), model(batch), strict=True))
    assert torch.stack([*expected.values()]).std(dim=0).min() > 1e-4
    moved, place = relabelled(graphs, seed=0)
    moved_batch = whole(moved)
    model_output = dict(zip(map(tuple, moved_batch.edge_index.T.tolist()), model(moved_batch), strict=True))
    assert len(model_output) == len(expected)
    for (source, target), output in expected.items():
        torch.testing.assert_close(model_output[place[source], place[target]], output, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
def test_output_does_not_depend_on_the_batch(case: Case) -> None:
    model, graphs = case.used(), graph_set(GRAPHS)
    batched = model(whole(graphs))
    backwards = GraphBatch.from_set(graphs, range(len(graphs))[::-1])
    torch.testing.assert_close(model(backwards).flip(0), batched, rtol=1e-9, atol=1e-9)
    for graph in range(len(graphs)):
        alone = model(GraphBatch.from_set(graphs, [graph]))
        torch.testing.assert_close(alone[0], batched[graph], rtol=1e-9, atol=1e-9)


@pytest.mark.slow
def test_evaluation_is_deterministic_and_changes_no_state(case: Case) -> None:
    model, batch = case.used(), batch_of(GRAPHS)
    before = {key: value.clone() for key, value in model.state_dict().items()}
    assert torch.equal(model(batch), model(batch))
    for key, value in model.state_dict().items():
        assert torch.equal(value, before[key])


@pytest.mark.slow
def test_all_parameters_receive_gradient(case: Case) -> None:
    model = case.build().double()
    model(batch_of(GRAPHS)).square().sum().backward()
    silent = {key for key, parameter in model.named_parameters() if parameter.grad is None}
    assert silent == unread(model)
    # Before a batch norm a bias has no effect in training; in evaluation every parameter has one.
    model = case.used()
    model(batch_of(GRAPHS)).square().sum().backward()
    idle = {key for key, parameter in model.named_parameters() if parameter.grad is None or not parameter.grad.any()}
    assert idle == unread(model)


def unread(model: nn.Module) -> set[str]:
    """Parameters of the last layer's edge states, which are unused; the published counts include them."""
    last = len(getattr(model, "blocks", [])) - 1
    idle = tuple(f"blocks.{last}.{part}." for part in ("edge_norm", "local.edge_norm", "edge_output", "edge_block"))
    if last >= 0 and isinstance(getattr(model.blocks[last], "conv", None), EdgeStateGAT):
        idle = (*idle, f"blocks.{last}.conv.bias")
    return {key for key, _ in model.named_parameters() if key.startswith(idle)}


FEW: dict[str, list[Graph]] = {
    "no edges": [(5, []), (3, [])],
    "one node": [(1, [])],
    "one loop": [(1, [(0, 0)])],
    "one edge": [(2, [(0, 1)])],
    "parts": [(6, [(0, 1), (1, 0), (3, 4), (4, 3)])],
    "no nodes": [(0, [])],
    "no nodes and some": [(0, []), (3, [(0, 1), (1, 0)])],
    "degenerate": DEGENERATE,
}


@pytest.mark.slow
@pytest.mark.parametrize(("few", "training"), rotating(FEW, [True, False]))
def test_degenerate_graphs_have_finite_outputs_and_gradients(case: Case, training: bool, few: str) -> None:
    given = FEW[few]
    ours = results(case, given, training)
    assert ours["output"].shape == (len(given), 2)
    assert [key for key, value in ours.items() if not value.isfinite().all()] == []
    if not training:  # dropout has other masks there; what a kernel has not written may be finite by chance
        with portable_path():
            torch.testing.assert_close(ours, results(case, given, training), rtol=1e-4, atol=1e-4)


def results(case: Case, given: list[Graph], training: bool) -> dict[str, Tensor]:
    """The output of a model, all gradients, and all buffers."""
    model = case.build().train(training)
    output = model(batch_of(given))
    output.sum().backward()
    gradients = {key: parameter.grad for key, parameter in model.named_parameters() if parameter.grad is not None}
    return {"output": output.detach(), **gradients, **dict(model.named_buffers())}


@pytest.mark.slow
def test_weights_round_trip_through_safetensors(case: Case) -> None:
    model, batch = case.used(), batch_of(GRAPHS)
    other = case.build(seed=1).double().eval()
    assert not torch.equal(other(batch), model(batch))
    other.load_state_dict(load(save(model.state_dict())))
    assert torch.equal(other(batch), model(batch))


def test_seed_determines_the_initial_weights(case: Case) -> None:
    first, again, other = (case.build(seed).state_dict() for seed in (3, 3, 4))
    assert first.keys() == again.keys() == other.keys()
    assert all(torch.equal(first[key], again[key]) for key in first)
    assert any(not torch.equal(first[key], other[key]) for key in first)


@pytest.mark.slow
def test_parameter_count_grows_with_width_and_depth(case: Case) -> None:
    step = width_step(case.name, {})
    widths = [count_parameters(case.build(width=width)) for width in range(4 * step, 25 * step, step)]
    depths = [count_parameters(case.build(layers=layers)) for layers in range(1, 6) if "layers" in case.settings()]
    for counts in (widths, depths):
        assert counts == sorted(set(counts))


@pytest.mark.slow
@pytest.mark.parametrize("layers", [1, 32])
@pytest.mark.parametrize("name", [name for name in MODELS if issubclass(MODELS.get(name), Conv)])
def test_stacks_of_any_depth_run(name: str, layers: int) -> None:
    model = Case(name, edge_features=False, encoding=False).build(layers=layers)
    out = model(batch_of(GRAPHS))
    out.square().mean().backward()
    assert out.isfinite().all()
    assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())


SILENT = [
    ("mlp", "self_loops"),
    ("3wl-gnn", "edge_layer_heads"),
    ("3wl-gnn", "featureless"),
    ("ringgnn", "featureless"),
    ("ringgnn", "outer_bias"),
    *((name, "edge_width") for name in ("pna", "pna-lspe", "dgn")),
    ("dgn", "coordinates"),
    ("signnet", "idle_parameters"),
    ("exphormer", "expander_degree"),
    ("exphormer", "expander_seed"),
    ("exphormer", "expander_loops"),
    *((name, key) for name in GRAPH_MODELS for key in model_settings(name) if key.startswith("eigen_")),
]
"""Settings without effect here: layers without edges ignore additional ones, there are no edge tasks, nodes are of
several types without coordinates, a bias starts at 0, edge features are not read, and GatedGCN has no idle parameters,
which are tested beside the released networks; small graphs have complete graphs for expanders, and no encoding consists
of eigenpairs, which are tested beside the modules."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "key"),
    [(name, key) for name in GRAPH_MODELS for key in model_settings(name) if (name, key) not in SILENT],
    ids=lambda value: value,
)
def test_every_declared_setting_has_an_effect(name: str, key: str) -> None:
    case = Case(name, edge_features=False, encoding=True)
    value = case.settings().get(key, model_settings(name)[key])
    base = accepted_settings(name, batch_norm=False) if key == "layer_norm" else {}  # a model has one norm
    assert described(case, **base) == described(case, **{**base, key: value})
    assert described(case, **base) != described(case, **{**base, key: another(name, key, value)})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "key"),
    [(name, key) for name in GRAPH_MODELS for key in model_settings(name) if key.endswith("dropout")],
    ids=lambda value: value,
)
def test_dropout_acts_whatever_else_is_chosen(name: str, key: str) -> None:
    """Each dropout alone, at 0.5, with every choice of every other setting; without attention there is none of it."""
    others = {other: 0.0 for other in model_settings(name) if other.endswith("dropout")}
    case = Case(name, edge_features="edge_features" in model_settings(name), encoding=True)
    choices = [(setting, choice) for setting, values in setting_choices(name).items() for choice in values]
    for setting, choice in choices or [("layers", 2)]:
        if (key, setting, choice) == ("attention_dropout", "attention", "none"):
            continue
        try:
            model = case.build(**{**others, key: 0.5, setting: choice}).train()
        except GraphTrialError:
            continue  # a choice that these graphs do not allow
        outputs = [model(batch_of(GRAPHS)) for _ in range(3)]
        assert any(not torch.equal(out, outputs[0]) for out in outputs), f"{key} has no effect with {setting}={choice}"


def another(name: str, key: str, value: Any) -> Any:
    """Another valid value of a setting."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        divides = key == getattr(MODELS.get(name), "width_divisor", None)
        return (2 * value or 1) if divides else value + (width_step(name, {}) if key == "width" else 1)
    if isinstance(value, float):
        return value / 2 if value else 0.5
    others = [choice for choice in setting_choices(name).get(key, ()) if choice != value]
    assert others, f"declare {key} of {name} as a Literal, so that users and tests know what it can be"
    return others[0]


@cache
def described(case: Case, **given: Any) -> tuple[Any, ...]:
    """The shapes of the weights of a model and its first output in training, both with a fixed seed."""
    model = case.build(**given)
    torch.manual_seed(0)
    shapes = tuple((key, tuple(value.shape)) for key, value in model.state_dict().items())
    out = model(batch_of(GRAPHS))
    assert out.isfinite().all()
    return shapes, out.tolist()


@pytest.mark.slow
def test_unused_features_are_ignored(any_case: Case) -> None:
    case = any_case
    model, graphs = case.used(), graph_set(GRAPHS)
    torch.manual_seed(0)
    for parameter in model.parameters():
        parameter.data += torch.randn_like(parameter) / 10  # some models start with weights too small to be noticed
    edges = graphs.column("edge_attr")
    permuted = Column((edges.values + 1) % EDGE_TYPES, "edge", types=EDGE_TYPES)
    same = torch.allclose(model(whole(graphs)), model(whole(graphs.with_column("edge_attr", permuted))), atol=1e-9)
    assert same != case.edge_features
    other = graphs.with_column("encoding", Column(graphs.column("encoding").values[::-1].copy(), "node"))
    assert torch.allclose(model(whole(graphs)), model(whole(other)), atol=1e-9) != case.encoding


def model_output(name: str, graphs: GraphSet, encoding_dim: int = 0) -> Tensor:
    """Outputs of an untrained model with random weights and norms on circular skip link graphs."""
    seed_everything(5)
    shapes = Shapes(
        outputs=10, level="graph", node_types=1, edge_types=1, encoding_dim=encoding_dim, encoding_replaces=True
    )
    model = build_model(name, shapes, accepted_settings(name, width=32, layers=4)).double().eval()
    return model(whole(graphs))


def test_message_passing_cannot_distinguish_csl(name: str) -> None:
    kind = MODELS.get(name)
    if issubclass(kind, DenseModel) or getattr(kind, "beyond_message_passing", False):
        pytest.skip(f"{name} is no message-passing model")
    if needs_encoding(name):
        pytest.skip(f"{name} cannot do without positions")
    out = model_output(name, relabelled(skip_links([2, 3, 16]), seed=0)[0])
    torch.testing.assert_close(out, out[:1].expand_as(out), rtol=1e-9, atol=1e-9)


def test_encodings_distinguish_csl(name: str) -> None:
    graphs = skip_links([2, 3, 16])
    positions = LaplacianPE(20, "absolute").compute(graphs)
    noise = np.random.default_rng(0).uniform(-1, 1, positions.shape) * np.finfo(np.float32).eps
    out, rounded = (
        model_output(name, graphs.with_column("encoding", Column(values, "node")), encoding_dim=20)
        for values in (positions, (positions * (1 + noise)).astype(positions.dtype))
    )
    rounding = (out - rounded).abs().max()
    assert rounding > 0
    for one, other in ((0, 1), (0, 2), (1, 2)):
        assert (out[one] - out[other]).abs().max() > 100 * rounding
