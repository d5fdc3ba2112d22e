"""Each layer against code we did not write, or against its equation node by node."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from tests.helpers.layers import WIDTH, build_layer, directed, output, undirected
from tests.helpers.samples import DEGENERATE, Graph, batch_of, random_graphs, vectors
from tests.helpers.sampling import rotating
from torch import Tensor, nn
from torch.func import functional_call
from torch_geometric.nn import GATConv, GCNConv, GINConv, SAGEConv, SimpleConv

from graphtrial.core.errors import GraphTrialError
from graphtrial.nn import MODELS, Shapes, build_model
from graphtrial.nn.conv import Conv
from graphtrial.nn.conv.gat import GAT
from graphtrial.nn.conv.gat_edgefeat import EdgeFeatureGAT
from graphtrial.nn.conv.gatedgcn import GatedGCN
from graphtrial.nn.conv.gcn import GCN
from graphtrial.nn.conv.gcn_vanilla import VanillaGCN
from graphtrial.nn.conv.gin import GIN
from graphtrial.nn.conv.mlp import MLP
from graphtrial.ops import dropout

LAYERS = [name for name in MODELS if issubclass(MODELS.get(name), Conv)]


@undirected
def test_gcn_matches_pyg_on_undirected_graphs(given: list[Graph]) -> None:
    batch, layer = batch_of(given), build_layer(GCN)
    theirs = GCNConv(WIDTH, WIDTH, add_self_loops=False, normalize=True).double()
    theirs.load_state_dict({"lin.weight": layer.linear.weight, "bias": layer.linear.bias})
    x = vectors(batch.num_nodes, WIDTH)
    torch.testing.assert_close(output(layer, batch, x), theirs(x, batch.edge_index))


@directed
def test_gcn_equals_its_equation_on_directed_graphs_with_degrees_of_at_least_one(given: list[Graph]) -> None:
    batch, layer = batch_of(given), build_layer(GCN)
    x = vectors(batch.num_nodes, WIDTH)
    edges = batch.edge_index.T.tolist()
    received = torch.zeros_like(x)
    for source, target in edges:
        sent = max(1, sum(u == source for u, _ in edges))
        messages = max(1, sum(v == target for _, v in edges))
        received[target] += x[source] / (sent * messages) ** 0.5
    expected = received @ layer.linear.weight.T + layer.linear.bias
    torch.testing.assert_close(output(layer, batch, x), expected)


@directed
def test_vanilla_gcn_matches_mean_aggregation_and_linear_of_pyg(given: list[Graph]) -> None:
    batch, layer = batch_of(given), build_layer(VanillaGCN)
    x = vectors(batch.num_nodes, WIDTH)
    sage = SAGEConv(WIDTH, WIDTH, aggr="mean", root_weight=False).double()
    sage.load_state_dict({"lin_l.weight": layer.linear.weight, "lin_l.bias": layer.linear.bias})
    torch.testing.assert_close(output(layer, batch, x), sage(x, batch.edge_index))
    mean = SimpleConv(aggr="mean")(x, batch.edge_index)
    torch.testing.assert_close(output(layer, batch, x), layer.linear(mean))


def pyg_gin(layer: GIN) -> GINConv:
    theirs = GINConv(copy.deepcopy(layer.mlp), train_eps=True).double()
    theirs.nn.load_state_dict(layer.mlp.state_dict())  # the constructor has drawn new weights
    theirs.eps.data.fill_(layer.epsilon.item())
    return theirs


@directed
@pytest.mark.parametrize("training", [True, False])
def test_gin_matches_pyg(given: list[Graph], training: bool) -> None:
    batch, layer = batch_of(given), build_layer(GIN)
    layer.train(training)
    theirs = pyg_gin(layer)
    x = vectors(batch.num_nodes, WIDTH)
    torch.testing.assert_close(output(layer, batch, x), theirs(x, batch.edge_index))


def test_gin_epsilon_gradient_matches_pyg() -> None:
    batch, layer = batch_of(DEGENERATE), build_layer(GIN)
    theirs = pyg_gin(layer)
    x, weight = vectors(batch.num_nodes, WIDTH), vectors(batch.num_nodes, WIDTH, seed=1)
    (output(layer, batch, x) * weight).sum().backward()
    (theirs(x, batch.edge_index) * weight).sum().backward()
    torch.testing.assert_close(layer.epsilon.grad, theirs.eps.grad.reshape(()))
    for ours, other in zip(layer.mlp.parameters(), theirs.nn.parameters(), strict=True):
        torch.testing.assert_close(ours.grad, other.grad)


@directed
@pytest.mark.parametrize("heads", [1, 4])
@pytest.mark.parametrize("bias", [True, False])
def test_gat_matches_pyg(given: list[Graph], heads: int, bias: bool) -> None:
    torch.manual_seed(1)
    batch, layer = batch_of(given), GAT(WIDTH, heads=heads, bias=bias).double()
    theirs = GATConv(WIDTH, WIDTH // heads, heads=heads, bias=bias, add_self_loops=False).double()
    theirs.load_state_dict(
        {
            "att_src": layer.source,
            "att_dst": layer.target,
            "lin.weight": layer.linear.weight,
            **({} if layer.bias is None else {"bias": layer.bias.data.normal_()}),
        }
    )
    x = vectors(batch.num_nodes, WIDTH)
    torch.testing.assert_close(output(layer, batch, x), theirs(x, batch.edge_index))


@directed
@pytest.mark.parametrize("kind", [GAT, EdgeFeatureGAT])
def test_gat_attention_dropout_matches_pyg(
    given: list[Graph], kind: type[GAT] | type[EdgeFeatureGAT], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nn.functional, "dropout", lambda x, p, training: dropout(x, p, training))
    batch, layer = batch_of(given), build_layer(kind, heads=4, dropout=0.4)
    source, target = (layer.source, layer.target) if kind is GAT else layer.score.unsqueeze(1)
    slope = 0.2 if kind is GAT else 0.01
    theirs = GATConv(WIDTH, 2, heads=4, bias=False, add_self_loops=False, dropout=0.4, negative_slope=slope).double()
    theirs.load_state_dict({"att_src": source, "att_dst": target, "lin.weight": layer.linear.weight})
    x = vectors(batch.num_nodes, WIDTH)
    torch.testing.assert_close(output(layer.eval(), batch, x), theirs.eval()(x, batch.edge_index))
    torch.manual_seed(5)
    out = output(layer.train(), batch, x)
    torch.manual_seed(5)
    dropped = dropout(x, 0.4) if kind is GAT else x
    torch.testing.assert_close(out, theirs.train()(dropped, batch.edge_index))


def test_block_applies_no_dropout_to_gat() -> None:
    model = build_model("gat", Shapes(outputs=1, level="graph", node_dim=1), {"width": 8, "dropout": 0.3})
    assert [(block.conv.dropout, block.dropout.p) for block in model.blocks] == [(0.3, 0.0)] * 4
    model = build_model("gat-edgefeat", Shapes(outputs=1, level="graph", node_dim=1), {"width": 8, "dropout": 0.3})
    assert [(block.conv.dropout, block.dropout.p) for block in model.blocks] == [(0.3, 0.3)] * 4


@directed
def test_gatedgcn_equals_its_equation_node_by_node(given: list[Graph]) -> None:
    batch, layer = batch_of(given), build_layer(GatedGCN)
    x, e = vectors(batch.num_nodes, WIDTH), vectors(batch.num_edges, WIDTH, seed=2)

    def linear(letter: str, row: Tensor) -> Tensor:
        mapped = getattr(layer, letter)
        return mapped.weight @ row + mapped.bias

    edges = batch.edge_index.T.tolist()
    new_e = [linear("D", x[u]) + linear("E", x[v]) + linear("C", e[i]) for i, (u, v) in enumerate(edges)]
    new_x = []
    for node in range(batch.num_nodes):
        above, below = torch.zeros(WIDTH, dtype=x.dtype), torch.full((WIDTH,), 1e-6, dtype=x.dtype)
        for i, (u, v) in enumerate(edges):
            if v == node:
                gate = 1 / (1 + torch.exp(-new_e[i]))
                above = above + gate * linear("B", x[u])
                below = below + gate
        new_x.append(linear("A", x[node]) + above / below)
    out_x, out_e = layer(batch, x, e)
    torch.testing.assert_close(out_x, torch.stack(new_x))
    torch.testing.assert_close(out_e, torch.stack(new_e) if new_e else torch.zeros_like(e))


def test_gatedgcn_without_edge_vectors_raises() -> None:
    with pytest.raises(GraphTrialError, match="GatedGCN needs a vector for each edge"):
        GatedGCN(4)(batch_of(DEGENERATE), torch.zeros(21, 4), None)


@directed
def test_mlp_layer_ignores_edges(given: list[Graph]) -> None:
    batch, layer = batch_of(given), build_layer(MLP)
    x = vectors(batch.num_nodes, WIDTH)
    torch.testing.assert_close(output(layer, batch, x), x @ layer.linear.weight.T + layer.linear.bias)


FORMS: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in LAYERS),
    *(("graphsage", settings) for settings in ({"aggregator": "mean"}, {"aggregator": "lstm"}, {"own": "pooled"})),
    ("graphsage", {"l2": False}),
    *(("gat", settings) for settings in ({"bias": True}, {"heads": 1})),
]


def _label(value: object) -> str:
    return str(value) if isinstance(value, tuple) else "degenerate" if value is DEGENERATE else "random"


@pytest.mark.slow
@pytest.mark.parametrize(("form", "given"), rotating(FORMS, [DEGENERATE, random_graphs(3, seed=1)]), ids=_label)
def test_every_layer_passes_gradcheck_in_its_inputs_and_weights(
    form: tuple[str, dict[str, Any]], given: list[Graph]
) -> None:
    name, settings = form
    batch, layer = batch_of(given), build_layer(MODELS.get(name), **settings)
    names = [key for key, _ in layer.named_parameters()]
    x = vectors(batch.num_nodes, WIDTH).requires_grad_()
    e = vectors(batch.num_edges, WIDTH, seed=2).requires_grad_()

    def run(x: Tensor, e: Tensor, *weights: Tensor) -> tuple[Tensor, ...]:
        given_e = e if layer.edge_state else None
        new_x, new_e = functional_call(layer, dict(zip(names, weights, strict=True)), (batch, x, given_e))
        return (new_x,) if new_e is None else (new_x, new_e)

    weights = [p.detach().clone().requires_grad_() for p in layer.parameters()]
    assert torch.autograd.gradcheck(run, (x, e, *weights), fast_mode=True)


@pytest.mark.parametrize("name", LAYERS)
def test_layers_contain_no_norm_or_dropout(name: str) -> None:
    kinds = (nn.Dropout,) if name == "gin" else (nn.Dropout, nn.modules.batchnorm._BatchNorm)
    assert not any(isinstance(module, kinds) for module in build_layer(MODELS.get(name)).modules())


@pytest.mark.parametrize("name", LAYERS)
def test_layers_without_edge_state_return_e_unchanged(name: str) -> None:
    layer, batch = build_layer(MODELS.get(name)), batch_of(DEGENERATE)
    e = vectors(batch.num_edges, WIDTH)
    new_x, new_e = layer(batch, vectors(batch.num_nodes, WIDTH), e)
    assert new_x.shape == (batch.num_nodes, WIDTH)
    assert new_e is not None
    assert (new_e is e) != layer.edge_state
