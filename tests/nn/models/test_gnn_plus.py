"""GCN+, GIN+ and GatedGCN+ and their convolutions, against layers of PyG."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tests.helpers.graphgps import SIMPLE, SINGLE_LOOPS, batch, shaken
from tests.helpers.samples import EDGE_TYPES, NODE_TYPES, Graph, vectors
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric.nn import GCNConv, GINEConv, MessagePassing, global_add_pool, global_mean_pool

from graphtrial.graphs import GraphBatch
from graphtrial.graphs.pairs import edge_walks
from graphtrial.nn import Shapes, build_model
from graphtrial.nn.graphgps.gated import GatedLayer
from graphtrial.nn.graphgps.gcn_convolution import GCNConvolution
from graphtrial.nn.graphgps.plus import FeedForwardBlock
from graphtrial.nn.models.gcn_plus import EdgeGCN

WIDTH = 8
RELU = nn.ReLU()
ACTIVATIONS = {"relu": RELU, "gelu": nn.GELU()}
SHAPES = Shapes(outputs=3, level="graph", node_types=NODE_TYPES, edge_types=EDGE_TYPES, encoding_dim=3)


class SumOfReLU(MessagePassing):
    """Σ relu(x_j + e_ij) in PyG."""

    def __init__(self) -> None:
        super().__init__(aggr="add")

    def forward(self, x: Tensor, edge_index: Tensor, e: Tensor) -> Tensor:
        return self.propagate(edge_index, x=x, e=e)

    def message(self, x_j: Tensor, e: Tensor) -> Tensor:
        return (x_j + e).relu()


def normalized_sum(x: Tensor, edge_index: Tensor, e: Tensor) -> Tensor:
    """Σ relu(x_j + e_ij) / sqrt(d_i d_j), edge by edge, after a loop of edge state 0 for every node without one."""
    edges = list(zip(edge_index[0].tolist(), edge_index[1].tolist(), e.expand(edge_index.shape[1], -1), strict=True))
    looped = {source for source, target, _ in edges if source == target}
    edges += [(node, node, torch.zeros_like(e[0])) for node in range(len(x)) if node not in looped]
    degree = [sum(target == node for _, target, _ in edges) for node in range(len(x))]
    out = [torch.zeros_like(row) for row in x]
    for source, target, state in edges:
        out[target] = out[target] + (x[source] + state).relu() / (degree[source] * degree[target]) ** 0.5
    return torch.stack(out)


def pyg_convolution(conv: nn.Module, graph: GraphBatch, x: Tensor, e: Tensor, act: nn.Module = RELU) -> Tensor:
    if isinstance(conv, GCNConvolution):
        theirs = GCNConv(WIDTH, WIDTH, bias=conv.bias is not None).double()
        theirs.lin.weight = conv.linear.weight
        theirs.bias = conv.bias
        return theirs(x, graph.edge_index)
    if isinstance(conv, EdgeGCN):
        return (normalized_sum if conv.normalize else SumOfReLU())(conv.linear(x), graph.edge_index, e) + conv.bias
    first, second = (part for part in conv.mlp if isinstance(part, nn.Linear))  # type: ignore[operator,union-attr]
    theirs = GINEConv(nn.Identity())  # would reset the weights of an MLP that it is given
    theirs.nn = nn.Sequential(first, act, second)
    return theirs(x, graph.edge_index, e)


def test_gcn_convolution_matches_pyg_on_directed_graphs_with_loops() -> None:
    graph = batch(SINGLE_LOOPS)
    x = vectors(graph.num_nodes, WIDTH)
    for bias in (True, False):
        conv = shaken(GCNConvolution(WIDTH, bias=bias))
        torch.testing.assert_close(conv(graph, x), pyg_convolution(conv, graph, x, x))


def feed_forward(block: FeedForwardBlock | None, x: Tensor, act: nn.Module = RELU) -> Tensor:
    if block is None:
        return x
    x = F.batch_norm(x, None, None, block.first_norm.weight, block.first_norm.bias, training=True)
    x = x + block.feed_forward[3](act(block.feed_forward[0](x)))
    return F.batch_norm(x, None, None, block.last_norm.weight, block.last_norm.bias, training=True)


MODELS: list[tuple[str, dict[str, Any]]] = [
    ("gcn-plus", {}),
    ("gcn-plus", {"convolution": "edge-sum"}),
    ("gcn-plus", {"edge_features": False}),
    ("gcn-plus", {"convolution": "gcn", "batch_norm": False, "ffn": False, "activation": "gelu", "head": "mlp"}),
    ("gcn-plus", {"convolution": "gcn", "residual": False, "edge_walk": 4}),
    ("gin-plus", {"head": "san", "readout": "sum"}),
    ("gin-plus", {"ffn": False, "batch_norm": True, "edge_features": False}),
    ("gcn-plus", {"activation": "gelu"}),
    ("gin-plus", {"activation": "gelu"}),
    ("gin-plus", {"activation": "gelu", "convolution": "gine-inner", "head": "mlp"}),
]


@pytest.mark.parametrize("given", [SIMPLE, SINGLE_LOOPS], ids=["simple", "directed"])
@pytest.mark.parametrize(("name", "settings"), MODELS, ids=lambda value: str(value))
def test_whole_model_matches_a_stack_of_pyg_layers(name: str, settings: dict[str, Any], given: list[Graph]) -> None:
    """The model in training mode, without dropout, written down again around PyG's convolutions and pooling."""
    graph = batch(given)
    settings = {"edge_features": True, **settings}
    model: Any = shaken(build_model(name, SHAPES, {"width": WIDTH, "layers": 2, **settings}))
    encoder = model.node_input.positions.encoders[0]
    p = F.batch_norm(graph.columns["encoding"], None, None, encoder.norm.weight, encoder.norm.bias, training=True)
    x = torch.cat([model.node_input.feature.weight[graph.x], encoder.linear(p)], dim=1)
    e = model.edge_input.feature.weight[
        graph.edge_attr if settings["edge_features"] else torch.zeros_like(graph.edge_attr)
    ]
    if settings.get("edge_walk"):
        e = e + model.edge_walk(edge_walks(graph, 4, dtype=torch.float64))
    act = ACTIVATIONS[settings.get("activation", "relu")]
    inner = settings.get("convolution") == "gine-inner"  # Tönshoff et al.: `activation` in the MLP, none after it
    outer = act if name == "gcn-plus" else nn.Identity() if inner else RELU
    for block in model.blocks:
        new = pyg_convolution(block.conv, graph, x, e, act if inner else RELU)
        if block.norm is not None:
            new = F.batch_norm(new, None, None, block.norm.weight, block.norm.bias, training=True)
        new = outer(new)
        x = feed_forward(block.ffn, x + new if settings.get("residual", True) else new, act)
    pooled = (global_add_pool if settings.get("readout") == "sum" else global_mean_pool)(
        x, graph.batch, size=graph.num_graphs
    )
    linear = [part for part in model.head.mlp if isinstance(part, nn.Linear)]
    for layer in linear[:-1]:
        pooled = (act if settings.get("head") == "mlp" else RELU)(layer(pooled))
        if settings.get("head", "graphgym") == "graphgym":
            pooled = F.normalize(pooled)
    torch.testing.assert_close(model(graph), linear[-1](pooled))
    assert len(linear) == 3


@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_gatedgcn_plus_is_gated_layers_with_relu_and_feed_forward_blocks(activation: str) -> None:
    graph = batch()
    settings = {"width": WIDTH, "layers": 3, "edge_features": True, "activation": activation}
    model: Any = shaken(build_model("gatedgcn-plus", SHAPES, settings))
    x, e = model.node_input(graph), model.edge_input(graph)
    for at, block in enumerate(model.blocks):
        layer = GatedLayer(WIDTH, 0.0, "relu", last=at == 2).double()
        layer.load_state_dict(block.local.state_dict())
        x, e = layer(graph, x, e)
        x = feed_forward(block.ffn, x, ACTIVATIONS[activation])
    torch.testing.assert_close(model(graph), model.head(graph, x))


def test_graphgym_gcn_l2_normalises_every_layer() -> None:
    graph = batch(SINGLE_LOOPS)
    model: Any = shaken(build_model("gcn-graphgym", SHAPES, {"width": WIDTH, "layers": 2, "head_layers": 1}))
    x = model.node_input(graph)
    for conv, norm in zip(model.convs, model.norms, strict=True):
        x = F.batch_norm(pyg_convolution(conv, graph, x, x), None, None, norm.weight, norm.bias, training=True)
        x = F.normalize(x.relu())
    pooled = global_mean_pool(x, graph.batch, size=graph.num_graphs)
    torch.testing.assert_close(model(graph), model.head.mlp[0](pooled))


def test_dropout_of_inner_gine_acts_in_its_mlp_alone() -> None:
    settings = {"width": WIDTH, "layers": 1, "dropout": 0.5, "ffn": False}
    places = {}
    for convolution in ("gine", "gine-inner"):
        (block,) = build_model("gin-plus", SHAPES, {**settings, "convolution": convolution}).blocks  # type: ignore[union-attr]
        places[convolution] = [name for name, part in block.named_modules() if isinstance(part, nn.Dropout)]
    assert places == {"gine": ["act.1"], "gine-inner": ["conv.mlp.2", "conv.mlp.4"]}
