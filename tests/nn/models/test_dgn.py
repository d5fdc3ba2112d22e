"""Directional aggregators against their equations, node by node."""

from __future__ import annotations

import pytest
import torch
from tests.helpers.attention_oracles import edges_into
from tests.helpers.layers import directed
from tests.helpers.samples import NODE_TYPES, Graph, batch_of, random_graphs, vectors
from torch import Tensor

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.nn import Shapes, build_model
from graphtrial.nn.neighbourhood.aggregators import direction_weights
from graphtrial.nn.neighbourhood.dgn_layer import DGNLayer, SimpleAggregation
from graphtrial.nn.neighbourhood.pna_layer import Aggregation
from graphtrial.nn.shapes import EncodingShape

NAMES = ("mean", "dir1-dx", "dir2-av", "max")
WIDTH, EDGE = 6, 3


def by_hand(batch: GraphBatch, node: int, messages: dict[int, Tensor], state: Tensor, field: Tensor) -> Tensor:
    """The four aggregators of the messages of one node, by edge."""
    if not messages:
        return torch.zeros(4 * state.shape[1], dtype=state.dtype)
    stacked = torch.stack([*messages.values()])
    parts = [stacked.mean(0)]
    delta = torch.stack([field[u] - field[node] for _, u in edges_into(batch, node)])
    weight = delta[:, 0] / (delta[:, 0].abs().sum() + 1e-8)
    parts.append(((weight[:, None] * stacked).sum(0) - weight.sum() * state[node]).abs())
    parts.append((delta[:, 1:2].abs() * stacked).sum(0) / (delta[:, 1].abs().sum() + 1e-8))
    return torch.cat([*parts, stacked.max(0).values])


@directed
def test_simple_layers_aggregate_the_states_of_neighbours(given: list[Graph]) -> None:
    batch = batch_of(given)
    torch.manual_seed(0)
    layer = SimpleAggregation(WIDTH, 5, aggregators=NAMES, scalers=("identity", "attenuation"), delta=0.7).double()
    layer.aggregated[0].bias.data.normal_()
    x, field = vectors(batch.num_nodes, WIDTH), vectors(batch.num_nodes, 2, seed=1)
    got = layer(batch, x, None, direction_weights(batch, field, NAMES))
    for node in range(batch.num_nodes):
        parts = by_hand(batch, node, {at: x[u] for at, u in edges_into(batch, node)}, x, field)
        scale = 0.7 / torch.tensor(float(max(1, len(edges_into(batch, node)))), dtype=torch.float64).log1p()
        first, second = layer.aggregated
        expected = first.weight[0] @ parts + first.bias[0] + scale * (second.weight[0] @ parts)
        torch.testing.assert_close(got[node], expected)


@directed
@pytest.mark.parametrize("edges", [True, False])
def test_complex_layers_aggregate_messages(given: list[Graph], edges: bool) -> None:
    batch = batch_of(given)
    torch.manual_seed(0)
    settings = {"aggregators": NAMES, "scalers": ("identity",), "delta": 0.7, "edge_width": EDGE if edges else 0}
    layer = Aggregation(WIDTH, 5, towers=1, divide=True, **settings).double()
    for parameter in layer.parameters():
        parameter.data.normal_()
    x, field = vectors(batch.num_nodes, WIDTH), vectors(batch.num_nodes, 2, seed=1)
    e = vectors(batch.num_edges, EDGE, seed=2) if edges else None
    got = layer(batch, x, e, direction_weights(batch, field, NAMES))
    for node in range(batch.num_nodes):
        messages = {}
        for at, u in edges_into(batch, node):
            messages[at] = layer.sent.weight[0] @ x[u] + layer.sent.bias[0] + layer.own.weight[0] @ x[node]
            if e is not None:
                messages[at] = messages[at] + layer.edge.weight[0] @ e[at]
        parts = by_hand(batch, node, messages, x, field)
        expected = layer.update.weight[0] @ x[node] + layer.update.bias[0] + layer.aggregated[0].weight[0] @ parts
        torch.testing.assert_close(got[node], expected)


def test_layer_normalises_activates_and_adds_its_input() -> None:
    batch = batch_of(random_graphs(4, seed=0))
    torch.manual_seed(0)
    inner = SimpleAggregation(WIDTH, WIDTH, aggregators=("mean",), scalers=("identity",), delta=1.0)
    layer = DGNLayer(inner, WIDTH, WIDTH, dropout=0.0, graph_norm=True).double().eval()
    x = vectors(batch.num_nodes, WIDTH)
    nodes = torch.bincount(batch.batch)[batch.batch].unsqueeze(1)
    expected = x + (inner(batch, x, None) / nodes**0.5 / (1 + 1e-5) ** 0.5).relu()
    torch.testing.assert_close(layer(batch, x, None), expected)


def test_dgn_is_invariant_to_eigenvector_signs() -> None:
    torch.manual_seed(0)
    shapes = Shapes(outputs=2, level="graph", node_types=28, encoding_dim=3)
    model = build_model("dgn", shapes, {"width": 16, "aggregators": "mean dir1-dx dir2-dx max"}).eval()
    batch = batch_of(random_graphs(4, seed=0))
    torch.testing.assert_close(model(batch.with_column("encoding", -batch.encoding)), model(batch))


def test_eigenpairs_start_after_the_trivial_eigenvector() -> None:
    torch.manual_seed(0)
    pairs = Shapes(2, "graph", node_types=28, encoding_dim=6, encodings=(EncodingShape("laplacian-pairs", 6),))
    settings = {"width": 16, "aggregators": "mean dir1-dx dir2-dx max"}
    model = build_model("dgn", pairs, settings).eval()
    plain = build_model("dgn", Shapes(2, "graph", node_types=28, encoding_dim=2), settings).eval()
    plain.load_state_dict(model.state_dict())
    batch = batch_of(random_graphs(4, seed=0))
    values = torch.randn(batch.num_nodes, 6)
    out = model(batch.with_column("encoding", values))
    assert torch.equal(out, plain(batch.with_column("encoding", values[:, 1:3])))


def test_coordinates_are_the_last_node_features() -> None:
    torch.manual_seed(0)
    shapes = Shapes(2, "graph", node_dim=5)
    model = build_model("dgn", shapes, {"width": 16, "aggregators": "mean dir1-av", "coordinates": True}).eval()
    batch = batch_of(random_graphs(4, seed=0))
    x = torch.randn(batch.num_nodes, 5)
    encoded = build_model(
        "dgn", Shapes(2, "graph", node_dim=5, encoding_dim=1), {"width": 16, "aggregators": "mean dir1-av"}
    )
    encoded.load_state_dict(model.state_dict())
    with_x = batch.with_column("x", x)
    assert torch.equal(model(with_x), encoded.eval()(with_x.with_column("encoding", x[:, 3:4])))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"aggregators": "mean dir1-dx dir2-dx"}, "need an encoding of at least 2 eigenvectors: add --encoding lapl"),
        ({"coordinates": True}, "node features that end in two coordinates"),
        ({"layer": "simple", "towers": 4}, "use layer=complex"),
        ({"towers": 4, "narrowing": 4}, "narrowing of model 'dgn' must be below 4"),
    ],
)
def test_unsupported_inputs_raise(settings: dict[str, object], message: str) -> None:
    with pytest.raises(GraphTrialError, match=message):
        build_model("dgn", Shapes(2, "graph", node_types=28, encoding_dim=1), {"width": 16, **settings})


def test_the_field_is_the_part_with_eigenvectors_wherever_it_stands() -> None:
    batch = batch_of(random_graphs(4, seed=0))
    walks, eigenvectors = vectors(batch.num_nodes, 3), vectors(batch.num_nodes, 2, seed=1)
    parts = EncodingShape("random-walk", 3), EncodingShape("laplacian", 2)
    outputs = []
    for order in ((0, 1), (1, 0)):
        named = tuple(parts[at] for at in order)
        shapes = Shapes(1, "graph", node_types=NODE_TYPES, encoding_dim=5, encodings=named)
        torch.manual_seed(0)
        model = build_model("dgn", shapes, {"width": 8, "layers": 2}).double().eval()
        columns = torch.cat([(walks, eigenvectors)[at] for at in order], dim=1)
        outputs.append(model(batch.with_column("encoding", columns)))
    torch.testing.assert_close(*outputs)


def test_several_encodings_without_eigenvectors_are_no_field() -> None:
    parts = EncodingShape("random-walk", 3), EncodingShape("degree", 2)
    shapes = Shapes(1, "graph", node_types=NODE_TYPES, encoding_dim=5, encodings=parts)
    with pytest.raises(GraphTrialError, match="need an encoding of at least 1 eigenvectors"):
        build_model("dgn", shapes, {"width": 8})
