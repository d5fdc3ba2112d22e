"""GRIT, Graphormer, Exphormer, SAN and GPS with biases, against plain loops over nodes and pairs, in evaluation."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import networkx as nx
import pytest
import torch
from tests.helpers.graphgps import SIMPLE, batch, graphs_of, in_edges, norm, shaken
from tests.helpers.samples import EDGE_TYPES, NODE_TYPES
from torch import Tensor
from torch.nn import functional as F

from graphtrial.graphs import GraphBatch
from graphtrial.graphs.pairs import expander_edges
from graphtrial.graphs.self_loops import replace_edges
from graphtrial.nn import Shapes, build_model

WIDTH, HEADS, SIZE = 8, 2, 4
SHAPES = Shapes(outputs=3, level="node", node_types=NODE_TYPES, edge_types=EDGE_TYPES)


def build(name: str, **settings: Any) -> Any:
    usual = {"width": WIDTH, "heads": HEADS, "layers": 2, "edge_features": True}
    return shaken(build_model(name, SHAPES, {**usual, **settings})).eval()


def heads(x: Tensor) -> Tensor:
    return x.view(*x.shape[:-1], HEADS, SIZE)


def feed_forward(layer: Any, x: Tensor) -> Tensor:
    return norm(layer.norm, x + layer.feed_forward[3](layer.feed_forward[0](x).relu()))


def transition(graph: GraphBatch, nodes: range) -> Tensor:
    out = torch.zeros(len(nodes), len(nodes))
    for i in nodes:
        for _, j in in_edges(graph, i):
            out[j - nodes[0], i - nodes[0]] += 1 / float(graph.out_degree[j])
    return out


@pytest.fixture(autouse=True)
def double() -> Any:
    """Loops build tensors in double precision."""
    torch.set_default_dtype(torch.float64)
    with torch.no_grad():
        yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("walks", ["from-target", "from-source"])
def test_grit_matches_a_naive_implementation(walks: str) -> None:
    graph, model = batch(), build("grit", walk_length=5, walks=walks)
    x = model.node_input(graph)
    pairs: dict[tuple[int, int], Tensor] = {}
    for nodes in graphs_of(graph):
        step = transition(graph, nodes)
        powers = torch.stack([torch.linalg.matrix_power(step, k) for k in range(5)], dim=2) if len(nodes) else step
        for i in nodes:
            x[i] += model.node_walks(powers[i - nodes[0], i - nodes[0]])
            for j in nodes:
                start, end = (i, j) if walks == "from-target" else (j, i)
                pairs[i, j] = model.pair_walks(powers[start - nodes[0], end - nodes[0]])
            for edge, j in in_edges(graph, i):
                pairs[i, j] = pairs[i, j] + model.edge_input.feature.weight[graph.edge_attr[edge]]
    for layer in model.blocks:
        new_x, new_pairs = x.clone(), dict(pairs)
        for nodes in graphs_of(graph):
            for i in nodes:
                hats, scores = {}, {}
                for j in nodes:
                    weight, bias = layer.E(pairs[i, j]).view(HEADS, 2 * SIZE).chunk(2, dim=1)
                    score = heads(layer.Q(x[i]) + layer.K(x[j])) * weight
                    hats[j] = (score.relu().sqrt() - (-score).relu().sqrt() + bias).relu()
                    scores[j] = (hats[j] * layer.score[:, :, 0].t()).sum(dim=1).clamp(-5, 5)
                total = sum(score.exp() for score in scores.values())
                out = torch.zeros(HEADS, SIZE)
                for j in nodes:
                    alpha = (scores[j].exp() / total).unsqueeze(1)
                    moved = torch.stack([hats[j][h] @ layer.pair_value[:, h] for h in range(HEADS)])
                    out += alpha * (heads(layer.V(x[j])) + moved)
                    new_pairs[i, j] = norm(layer.edge_norm, pairs[i, j] + layer.edge_output(hats[j].flatten()))
                out = out.flatten()
                log_degree = math.log(1 + len(in_edges(graph, i)))
                out = out * layer.degree[0, :, 0] + out * log_degree * layer.degree[0, :, 1]
                new_x[i] = feed_forward(layer, norm(layer.attention_norm, x[i] + layer.output(out)))
        x, pairs = new_x, new_pairs
    torch.testing.assert_close(model(graph), model.head(graph, x))


def path_bias(bias: Any, graph: GraphBatch, nodes: range) -> dict[tuple[int, int], Tensor]:
    """Graphormer's biases of the pairs of one graph, as the mean over its shortest paths."""
    network, types = nx.DiGraph(), {}
    network.add_nodes_from(nodes)
    for i in nodes:
        for edge, j in in_edges(graph, i):
            network.add_edge(j, i)
            types[j, i] = int(graph.edge_attr[edge])
    out = {}
    for i in nodes:
        for j in nodes:
            paths = list(nx.all_shortest_paths(network, i, j)) if nx.has_path(network, i, j) else []
            kind = min(len(paths[0]) - 1, 19) if paths else 20
            edge_bias = torch.zeros(HEADS)
            for path in paths or [[]]:
                hops = [types[step] for step in pairwise(path)][:19]
                for k, hop in enumerate(hops + [0] * (20 - len(hops))):
                    edge_bias += bias.edge.weight[hop] @ bias.hop[k] / len(paths or [[]])
            out[i, j] = bias.distance.weight[kind] + edge_bias / max(1, kind)
    return out


def attend(attention: Any, x: dict[Any, Tensor], bias: dict[tuple[Any, Any], Tensor]) -> dict[Any, Tensor]:
    """Multi-head attention among a few nodes."""
    q, k, v = ({i: heads(attention.projection(row).chunk(3)[at]) for i, row in x.items()} for at in range(3))
    out = {}
    for i in x:
        scores = torch.stack([(q[i] * k[j]).sum(dim=1) / math.sqrt(SIZE) + bias[i, j] for j in x])
        out[i] = attention.output(
            (scores.softmax(dim=0).unsqueeze(2) * torch.stack([*v.values()])).sum(dim=0).flatten()
        )
    return out


LONG = [*SIMPLE, (26, [edge for i in range(25) for edge in ((i, i + 1), (i + 1, i))])]


def test_graphormer_matches_a_naive_implementation() -> None:
    graph, model = batch(LONG), build("graphormer-gps")
    start = model.node_input(graph) + model.degrees.in_degree.weight[graph.in_degree]
    start = start + model.degrees.out_degree.weight[graph.out_degree]
    expected = []
    for nodes in graphs_of(graph):
        bias: dict[Any, Tensor] = {**path_bias(model.pair_bias, graph, nodes)}
        bias |= {pair: model.pair_bias.token[0] for i in ("token", *nodes) for pair in (("token", i), (i, "token"))}
        x = {"token": model.token.state[0], **{i: start[i] for i in nodes}}
        for layer in model.blocks:
            normed = {i: F.layer_norm(row, (WIDTH,), *layer.attention_norm.parameters()) for i, row in x.items()}
            x = {i: row + x[i] for i, row in attend(layer.attention, normed, bias).items()}
            inner = {i: F.layer_norm(row, (WIDTH,), *layer.mlp[0].parameters()) for i, row in x.items()}
            x = {i: row + layer.mlp[4](F.gelu(layer.mlp[1](inner[i]))) for i, row in x.items()}
        expected += [model.head(x[i]) for i in nodes]
    torch.testing.assert_close(model(graph), torch.stack(expected))


@pytest.mark.parametrize("token", [True, False])
def test_gps_with_biases_matches_a_naive_implementation(token: bool) -> None:
    graph, model = batch(SIMPLE), build("gps", local="gine", attention="biased", graph_token=token, layers=1)
    start = model.node_input(graph) + model.degrees(graph)
    e = model.edge_input(graph)
    layer, expected = model.blocks[0], []
    for nodes in graphs_of(graph):
        x: dict[Any, Tensor] = {i: start[i] for i in nodes}
        bias: dict[Any, Tensor] = {**path_bias(model.pair_bias, graph, nodes)}
        if token:
            bias |= {pair: model.pair_bias.token[0] for i in ("token", *nodes) for pair in (("token", i), (i, "token"))}
            x["token"] = model.token.state[0]
        attended = attend(layer.attention, x, bias)
        for i in nodes:
            summed = x[i] + sum((x[j] + e[edge]).relu() for edge, j in in_edges(graph, i))
            local = norm(layer.local_norm, x[i] + layer.local.mlp(summed))
            h = local + norm(layer.attention_norm, x[i] + attended[i])
            expected.append(feed_forward(layer, h))
    torch.testing.assert_close(model(graph), model.head.mlp(torch.stack(expected)))


def weight_of(layer: Any, receiver: Tensor, sender: Tensor, edge: Tensor) -> Tensor:
    product = heads(layer.Q(receiver)) * heads(layer.K(sender)) * heads(layer.E(edge)) / math.sqrt(SIZE)
    return product.sum(dim=1).clamp(-5, 5).exp().unsqueeze(1)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {
            "virtual_nodes": 3,
            "expander": "hamiltonian",
            "expander_degree": 2,
            "expander_seed": 3,
            "expander_loops": True,
        },
        {"virtual_nodes": 0, "edge_features": False},
        {"expander": "none", "attend_edges": False},
    ],
    ids=str,
)
def test_exphormer_matches_a_naive_implementation(settings: dict[str, Any]) -> None:
    graph, model = batch(), build("exphormer", **settings)
    kind = settings.get("expander", "permutations")
    expander = None
    if kind != "none":
        degree, seed = settings.get("expander_degree", 5), settings.get("expander_seed", 0)
        loops, hamiltonian = settings.get("expander_loops", False), kind == "hamiltonian"
        edges = expander_edges(graph, degree, seed, self_loops=loops, hamiltonian=hamiltonian)
        expander = replace_edges(graph, *edges)[0]
    x, e = model.node_input(graph), model.edge_input(graph)
    first_e = e.expand(graph.num_edges, -1)
    virtual = {(g, v): row for g in range(graph.num_graphs) for v, row in enumerate(model.virtual)}
    for layer in model.blocks:
        attention, rows = layer.attention, []
        owner = graph.batch.tolist()
        for i in range(graph.num_nodes):
            senders = [(x[j], first_e[edge]) for edge, j in in_edges(graph, i)] if model.attend_edges else []
            if expander is not None:
                senders += [(x[j], model.expander_edge.weight[0]) for _, j in in_edges(expander, i)]
            senders += [(virtual[owner[i], v], edge) for v, edge in enumerate(model.from_virtual)]
            weights = [weight_of(attention, x[i], sender, edge) for sender, edge in senders]
            top = sum((w * heads(attention.V(s)) for w, (s, _) in zip(weights, senders, strict=True)), torch.zeros(1))
            attended = (top / (sum(weights, torch.zeros(1)) + 1e-6)).expand(HEADS, SIZE).reshape(WIDTH)
            rows.append(norm(layer.attention_norm, x[i] + attended))
        new_virtual = {}
        for (g, v), state in virtual.items():
            weights = [weight_of(attention, state, x[j], model.to_virtual[v]) for j in [*graphs_of(graph)][g]]
            values = [heads(attention.V(x[j])) for j in [*graphs_of(graph)][g]]
            top = sum((w * value for w, value in zip(weights, values, strict=True)), torch.zeros(HEADS, SIZE))
            new_virtual[g, v] = (top / (sum(weights, torch.zeros(1)) + 1e-6)).flatten()
        local, e = layer.local(graph, x, e)  # tested node by node beside its own file
        x = feed_forward(layer, norm(layer.local_norm, local) + torch.stack(rows))
        virtual = new_virtual
    torch.testing.assert_close(model(graph), model.head(graph, x))


@pytest.mark.parametrize("edge_features", [True, False])
def test_san_matches_a_naive_implementation(edge_features: bool) -> None:
    graph, model = batch(), build("san-gps", gamma=0.3, edge_features=edge_features)
    x, e = model.node_input(graph), model.edge_input(graph).expand(graph.num_edges, -1)
    for layer in model.blocks:
        part, block, rows = layer.attention, layer.block, []
        for nodes in graphs_of(graph):
            for i in nodes:
                senders = [(j, weight_of(part, x[i], x[j], e[edge]) / 1.3) for edge, j in in_edges(graph, i)]
                for j in {*nodes} - {j for j, _ in senders} - {i}:
                    product = heads(part.Q2(x[i])) * heads(part.K2(x[j])) * heads(part.E2(model.other_pairs.weight[0]))
                    score = (product.sum(dim=1) / math.sqrt(SIZE)).clamp(-5, 5)
                    senders.append((j, 0.3 / 1.3 * score.exp().unsqueeze(1)))
                top = sum((w * heads(part.V(x[j])) for j, w in senders), torch.zeros(HEADS, SIZE))
                attended = (top / (sum((w for _, w in senders), torch.zeros(1)) + 1e-6)).flatten()
                rows.append(norm(block.norm, x[i] + block.output(attended)))
        states = torch.stack(rows)
        x = norm(block.ffn_norm, states + block.ffn[3](block.ffn[0](states).relu()))
    torch.testing.assert_close(model(graph), model.head(graph, x))
