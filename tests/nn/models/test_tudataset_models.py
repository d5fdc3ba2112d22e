"""The models of TUDataset, put together from PyG's parts with the same weights."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
import torch
from tests.helpers.samples import DEGENERATE, EDGE_TYPES, NODE_TYPES, batch_of, random_graphs, vectors
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric.nn import GINConv, GINEConv, NNConv, Set2Set, global_add_pool, global_mean_pool

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.nn import Shapes, build_model, count_parameters
from graphtrial.nn.gin_step import GINStep
from graphtrial.nn.models.mpnn import EdgeNetwork

SHAPES = Shapes(outputs=3, level="graph", node_types=NODE_TYPES, edge_types=EDGE_TYPES)
GRAPHS = [*random_graphs(6, seed=3), *[graph for graph in DEGENERATE if graph[0]]]
WIDTH = 8


@pytest.fixture
def batch() -> GraphBatch:
    return batch_of(GRAPHS)


def built(name: str, shapes: Shapes = SHAPES, **settings: Any) -> nn.Module:
    torch.manual_seed(0)
    model = build_model(name, shapes, {"width": WIDTH, **settings}).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) / 3)
    return model.eval()


def one_hot(batch: GraphBatch) -> tuple[Tensor, Tensor]:
    return F.one_hot(batch.x.flatten(), NODE_TYPES).double(), F.one_hot(batch.edge_attr.flatten(), EDGE_TYPES).double()


def pyg_step(step: GINStep, batch: GraphBatch, x: Tensor, f: Tensor) -> Tensor:
    epsilon = 0.0 if step.epsilon is None else step.epsilon.item()
    if step.encoder is None:
        conv = GINConv(nn.Identity(), eps=epsilon)
        return step.mlp(conv(x, batch.edge_index))
    conv = GINEConv(_Narrow(x.shape[1]), eps=epsilon)
    return step.mlp(conv(x, batch.edge_index, edge_attr=step.encoder(f)))


class _Narrow(nn.Identity):
    """PyG reads the width of what comes in off the inner network."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.in_features = width


@pytest.mark.parametrize("name", ["gin-eps", "gine"])
@pytest.mark.parametrize("jumping", [False, True])
@pytest.mark.parametrize("learn_epsilon", [False, True])
def test_classifiers_match_pyg(batch: GraphBatch, name: str, jumping: bool, learn_epsilon: bool) -> None:
    model = built(name, jumping=jumping, learn_epsilon=learn_epsilon)
    x, f = one_hot(batch)
    states = []
    for step in model.steps:
        x = pyg_step(step, batch, x, f)
        states.append(x)
    pooled = global_mean_pool(torch.cat(states, dim=1) if jumping else x, batch.batch, batch.num_graphs)
    torch.testing.assert_close(model(batch), model.head(pooled))


def test_gin_eps_supports_sum_readout(batch: GraphBatch) -> None:
    model = built("gin-eps", readout="sum", layers=1)
    x = pyg_step(model.steps[0], batch, *one_hot(batch))
    torch.testing.assert_close(model(batch), model.head(global_add_pool(x, batch.batch, batch.num_graphs)))


def kinds(parts: nn.Sequential) -> list[str]:
    return [type(part).__name__ for part in parts]


@pytest.mark.parametrize("name", ["gin-eps", "gine"])
def test_gin_step_is_a_two_layer_mlp_with_batch_norm(name: str) -> None:
    model = built(name)
    step = model.steps[1]
    assert kinds(step.mlp) == ["Linear", "ReLU", "Linear", "ReLU", "BatchNorm"]
    assert step.encoder is None or kinds(step.encoder) == kinds(step.mlp)
    assert kinds(model.head) == ["Linear", "ReLU", "Dropout", "Linear"]
    assert model.head[2].p == 0.5


def test_gine_norms_depend_on_the_molecule_dataset() -> None:
    zinc, alchemy, qm9 = (built("gine-molecules", norm=norm).steps[1] for norm in ("outside", "none", "inside"))
    for step in (zinc, alchemy):
        assert kinds(step.mlp) == kinds(step.encoder) == ["Linear", "ReLU", "Linear"]
    assert kinds(qm9.mlp) == kinds(qm9.encoder) == ["Linear", "BatchNorm", "ReLU"] * 2
    assert kinds(built("gine-molecules").norms) == ["BatchNorm"] * 4


@pytest.mark.parametrize(
    ("settings", "steps"),
    [
        ({}, None),
        ({"norm": "none", "layers": 6, "jumping": False, "readout": "set2set", "head_layers": 2}, 6),
        ({"norm": "inside", "layers": 6, "jumping": False, "readout": "set2set", "head_layers": 2}, 6),
    ],
    ids=["zinc", "alchemy", "qm9"],
)
def test_gine_molecules_matches_pyg(batch: GraphBatch, settings: dict[str, Any], steps: int | None) -> None:
    model = built("gine-molecules", **settings)
    x, f = one_hot(batch)
    states = []
    for i, step in enumerate(model.steps):
        x = pyg_step(step, batch, x, f).relu()
        x = model.norms[i](x)
        states.append(x)
    if steps is None:
        pooled = global_mean_pool(torch.cat(states, dim=1), batch.batch, batch.num_graphs)
    else:
        pooled = pyg_set2set(model.set2set, WIDTH, steps)(x, batch.batch, dim_size=batch.num_graphs)
    torch.testing.assert_close(model(batch), model.head(pooled))


def pyg_set2set(ours: nn.Module, width: int, steps: int) -> Set2Set:
    theirs = Set2Set(width, processing_steps=steps).double()
    theirs.lstm.load_state_dict({f"{key}_l0": value for key, value in ours.lstm.state_dict().items()})
    return theirs


@pytest.mark.parametrize("edge_width", [1, 5])
def test_edge_network_matches_pyg_without_a_matrix_per_edge(batch: GraphBatch, edge_width: int) -> None:
    torch.manual_seed(0)
    layer = EdgeNetwork(WIDTH, EDGE_TYPES, edge_width).double()
    theirs = NNConv(WIDTH, WIDTH, nn.Sequential(layer.first, nn.ReLU(), layer.second), aggr="mean").double()
    saved = {key: value.clone() for key, value in layer.state_dict().items()}
    theirs.reset_parameters()
    layer.load_state_dict(saved)
    theirs.lin.weight.data = layer.root.weight.data
    theirs.bias.data = layer.root.bias.data
    x, f = vectors(batch.num_nodes, WIDTH), vectors(batch.num_edges, EDGE_TYPES, seed=1)
    torch.testing.assert_close(layer(batch, x, layer.coefficients(f)), theirs(x, batch.edge_index, f))


def test_edge_network_passes_gradcheck() -> None:
    torch.manual_seed(0)
    batch, layer = batch_of(DEGENERATE), EdgeNetwork(3, 2, 4).double()
    x, f = vectors(batch.num_nodes, 3).requires_grad_(), vectors(batch.num_edges, 2, seed=1).requires_grad_()
    assert torch.autograd.gradcheck(lambda x, f: layer(batch, x, layer.coefficients(f)), (x, f), fast_mode=True)


@pytest.mark.parametrize("with_edges", [True, False])
def test_gin_step_passes_gradcheck(with_edges: bool) -> None:
    torch.manual_seed(0)
    batch = batch_of(DEGENERATE)
    step = GINStep(nn.Linear(3, 4), nn.Linear(2, 3) if with_edges else None).double()
    x, f = vectors(batch.num_nodes, 3).requires_grad_(), vectors(batch.num_edges, 2, seed=1).requires_grad_()
    assert torch.autograd.gradcheck(lambda x, f: step(batch, x, f), (x, f), fast_mode=True)


def test_mpnn_matches_pyg(batch: GraphBatch) -> None:
    model = built("mpnn", edge_width=5)
    gru = nn.GRU(WIDTH, WIDTH).double()
    gru.load_state_dict({f"{key}_l0": value for key, value in model.gru.state_dict().items()})
    conv = NNConv(WIDTH, WIDTH, nn.Identity(), aggr="mean").double()
    conv.nn = nn.Sequential(model.conv.first, nn.ReLU(), model.conv.second)
    conv.load_state_dict({"lin.weight": model.conv.root.weight, "bias": model.conv.root.bias}, strict=False)
    x, f = one_hot(batch)
    out = model.first(x).relu()
    hidden = out.unsqueeze(0)
    for _ in range(3):
        out, hidden = gru(conv(out, batch.edge_index, f).relu().unsqueeze(0), hidden)
        out = out.squeeze(0)
    pooled = pyg_set2set(model.set2set, WIDTH, 3)(out, batch.batch, dim_size=batch.num_graphs)
    torch.testing.assert_close(model(batch), model.head(pooled))


def mlp_size(*sizes: int) -> int:
    return sum(a * b + b for a, b in pairwise(sizes))


def test_models_of_tudataset_have_the_parameters_of_their_description() -> None:
    """ZINC: 28 one-hot node types and 3 bonds; QM9: 13 node and 6 edge numbers, 12 targets."""
    zinc = Shapes(outputs=1, level="graph", node_types=28, edge_types=3)
    steps = [mlp_size(3, d, d) + mlp_size(d, d, 256) + 1 + 2 * 256 for d in (28, 256, 256, 256)]
    expected = sum(steps) + mlp_size(1024, 256, 256, 256, 1)
    assert count_parameters(build_model("gine-molecules", zinc, {"width": 256})) == expected

    qm9 = Shapes(outputs=12, level="graph", node_dim=13, edge_dim=6)
    lstm, gru = 4 * (128 * 64 + 64 * 64 + 2 * 64), 3 * (2 * 64 * 64 + 2 * 64)
    expected = mlp_size(13, 64) + mlp_size(6, 128, 4096) + mlp_size(64, 64) + gru + lstm + mlp_size(128, 64, 12)
    assert count_parameters(build_model("mpnn", qm9, {"width": 64})) == expected

    enzymes = Shapes(outputs=6, level="graph", node_dim=3)
    layer = [mlp_size(d, 64, 64) + 2 * 64 + 1 for d in (3, 64, 64)]
    assert count_parameters(build_model("gin-eps", enzymes, {"width": 64})) == sum(layer) + mlp_size(64, 64, 6)
    joined = build_model("gin-eps", enzymes, {"width": 64, "jumping": True})
    assert count_parameters(joined) == sum(layer) + mlp_size(192, 64, 6)


@pytest.mark.parametrize("name", ["gin-eps", "gine", "gine-molecules", "mpnn"])
def test_unsupported_tasks_and_missing_features_raise(name: str) -> None:
    with pytest.raises(GraphTrialError, match=f"{name} predicts a target for each graph, not for each node"):
        build_model(name, Shapes(outputs=1, level="node", node_dim=2, edge_dim=1), {"width": 8})
    with pytest.raises(GraphTrialError, match="no node features"):
        build_model(name, Shapes(outputs=1, level="graph", edge_dim=1), {"width": 8})
    if name != "gin-eps":
        bare = Shapes(outputs=1, level="graph", node_dim=2)
        with pytest.raises(GraphTrialError, match="no edge features; set edge_features=false"):
            build_model(name, bare, {"width": 8})
        assert build_model(name, bare, {"width": 8, "edge_features": False})
