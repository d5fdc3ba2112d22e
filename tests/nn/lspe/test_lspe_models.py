"""Layers with learnable positions against their equations, node by node."""

from __future__ import annotations

import copy
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import torch
from tests.helpers.attention_oracles import attend, edges_into, others_of
from tests.helpers.layers import DIRECTED, directed, undirected
from tests.helpers.samples import DEGENERATE, ENCODING, Graph, batch_of, random_graphs, vectors
from torch import nn

from graphtrial.graphs.pairs.complete import complete_graph
from graphtrial.graphs.pairs.walk_kernel import walk_kernel
from graphtrial.nn import Shapes, build_model
from graphtrial.nn.attention.pair_attention import gamma_weights
from graphtrial.nn.lspe.attention_layer import AttentionLSPELayer
from graphtrial.nn.lspe.eigen_loss import eigenvector_loss
from graphtrial.nn.lspe.ends import LSPEOutput
from graphtrial.nn.lspe.gatedgcn_layer import GatedGCNLSPELayer

WIDTH = 8
SHAPES = Shapes(outputs=2, level="graph", node_types=28, edge_types=4, encoding_dim=3)


@directed
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("positions", [True, False])
def test_gatedgcn_lspe_equals_its_equations(given: list[Graph], training: bool, positions: bool) -> None:
    batch = batch_of(given)
    torch.manual_seed(0)
    layer = GatedGCNLSPELayer(WIDTH, positions=positions, last=False, dropout=0.0).double().train(training)
    x, p = vectors(batch.num_nodes, WIDTH), vectors(batch.num_nodes, WIDTH, seed=1)
    e = vectors(batch.num_edges, WIDTH, seed=2)
    both = torch.cat([x, p], dim=1) if positions else x
    source, target = batch.edge_index
    logits = layer.B1(x)[source] + layer.B2(x)[target] + layer.B3(e)
    rows, expected_p = [], []
    for node in range(batch.num_nodes):
        gates = {at: logits[at].sigmoid() for at, _ in edges_into(batch, node)}
        total = sum(gates.values(), torch.zeros(WIDTH, dtype=torch.float64)) + 1e-6
        h = layer.A1(both[node])
        for at, u in edges_into(batch, node):
            h = h + gates[at] / total * layer.A2(both[u])
        rows.append(h / (1 + len(others_of(batch, node))) ** 0.5 if positions else h)
        if positions:
            messages = [gates[at] / total * layer.C2(p[u]) for at, u in edges_into(batch, node)]
            expected_p.append(p[node] + sum(messages, layer.C1(p[node])).tanh())
    node_norm, edge_norm = (nn.BatchNorm1d(WIDTH).double().train(training) for _ in range(2))
    new_x, new_p, new_e = layer(batch, x, p if positions else None, e)
    torch.testing.assert_close(new_x, x + node_norm(torch.stack(rows)).relu())
    if positions:
        torch.testing.assert_close(new_p, torch.stack(expected_p))
    if batch.num_edges > 1:
        torch.testing.assert_close(new_e, e + edge_norm(logits).relu())


@pytest.mark.parametrize("positions", [True, False])
def test_attention_with_positions_equals_its_equations(positions: bool) -> None:
    batch = batch_of(DIRECTED["random-1"])
    torch.manual_seed(0)
    layer = AttentionLSPELayer(WIDTH, 2, positions=positions, dropout=0.0).double().eval()
    x, p = vectors(batch.num_nodes, WIDTH), vectors(batch.num_nodes, WIDTH, seed=1) if positions else None
    e, other = vectors(batch.num_edges, WIDTH, seed=2), vectors(1, WIDTH, seed=3)
    weights = gamma_weights(batch, torch.tensor(0.5, dtype=torch.float64))
    new_x, new_p = layer(batch, x, p, e, other, weights)
    streams = [(layer.attention, torch.cat([x, p], dim=1) if positions else x)]
    streams += [(layer.position_attention, p)] if positions else []
    attended = []
    for module, states in streams:
        rows = []
        for node in range(batch.num_nodes):
            adjacent = {u for _, u in edges_into(batch, node)}
            real, fake = (
                module.Q(states)[node] * module.K(states),
                module.Q2(states)[node] * module.K2(states),
            )
            pairs = [(u, real[u] * module.E(e)[at], 1 / 1.5) for at, u in edges_into(batch, node)]
            others = [u for u in others_of(batch, node) if u not in adjacent]
            pairs += [(u, fake[u] * module.E2(other)[0], 0.5 / 1.5) for u in others]
            rows.append(attend(pairs, module.V(states), 2, 1e-6))
        attended.append(torch.stack(rows))
    torch.testing.assert_close(new_x, layer.block(attended[0], x))
    if positions:
        linear = layer.position_output[1]
        torch.testing.assert_close(new_p, p + linear(attended[1]).tanh())
    else:
        assert new_p is None


@undirected
def test_walk_kernel_is_a_power_of_a_matrix(given: list[Graph]) -> None:
    batch = batch_of(given)
    kernel = walk_kernel(batch, 5, 0.25, torch.float64)
    dense = np.zeros((batch.num_nodes, batch.num_nodes))
    for u, v in batch.edge_index.T.tolist():
        dense[u, v] += 1
    root = np.maximum(dense.sum(axis=1), 1) ** -0.5
    step = np.eye(len(dense)) * 0.75 + 0.25 * root[:, None] * dense * root
    source, target = complete_graph(batch).edge_index
    np.testing.assert_allclose(kernel, np.linalg.matrix_power(step, 5)[target, source], atol=1e-12)


def test_positions_are_centred_and_normalised_in_each_graph() -> None:
    batch = batch_of([(5, [(0, 1), (1, 0)]), (1, []), (4, [])])
    torch.manual_seed(0)
    output = LSPEOutput(WIDTH, 3, normalize=True).double()
    x, p = vectors(batch.num_nodes, WIDTH), vectors(batch.num_nodes, WIDTH, seed=1)
    merged, q = output(batch, x, p)
    for graph in (0, 2):
        part = output.position(p)[batch.batch == graph]
        part = part - part.mean(dim=0)
        torch.testing.assert_close(q[batch.batch == graph], part / part.norm(dim=0), rtol=1e-5, atol=1e-5)
    assert torch.equal(q[batch.batch == 1], torch.zeros(1, 3, dtype=torch.float64))
    torch.testing.assert_close(merged, output.merge(torch.cat([x, q], dim=1)))


def test_eigenvector_loss_is_a_trace() -> None:
    graph = nx.cycle_graph(6)
    edges = [(u, v) for a, b in graph.edges for u, v in ((a, b), (b, a))]
    batch, q = batch_of([(6, edges), (3, [])]), vectors(9, 4)
    laplacian = np.eye(9)
    laplacian[:6, :6] = nx.normalized_laplacian_matrix(graph).toarray()
    expected = np.trace(q.numpy().T @ laplacian @ q.numpy()) / (4 * 2 * 9)
    torch.testing.assert_close(eigenvector_loss(batch, q).item(), expected)


def test_training_adds_the_eigenvector_loss() -> None:
    torch.manual_seed(0)
    batch = batch_of(random_graphs(4, seed=0, undirected=True))
    model = build_model("gatedgcn-lspe", SHAPES, {"width": 16, "layers": 2, "eigen_loss": 0.5})
    model(batch)
    model.extra_loss().backward()
    assert model.output.position.weight.grad.abs().sum() > 0
    plain = build_model("gatedgcn-lspe", SHAPES, {"width": 16, "layers": 2})
    plain(batch)
    assert plain.extra_loss() == 0.0


def test_pna_lspe_splits_towers_of_states_and_positions() -> None:
    torch.manual_seed(0)
    batch = batch_of(DEGENERATE)
    model = build_model("pna-lspe", SHAPES, {"width": 16, "layers": 1, "towers": 4}).double().eval()
    layer = copy.deepcopy(model.layers[0])
    x, p = vectors(batch.num_nodes, 16), vectors(batch.num_nodes, 16, seed=1)
    before = layer.node.aggregation(batch, torch.cat([x, p], dim=1), None)
    after = layer.node.aggregation(batch, torch.cat([x, p + 1], dim=1), None)
    assert torch.equal(before[:, :8], after[:, :8])  # two towers of four see states alone
    assert not torch.isclose(before[:, 8:], after[:, 8:]).any()
    new_x, new_p = layer(batch, x, p, None)
    expected = p + (layer.position(batch, p, None) @ layer.mixing.weight[0].T + layer.mixing.bias[0]).tanh()
    torch.testing.assert_close(new_p, expected)
    torch.testing.assert_close(new_x, x + layer.node(batch, torch.cat([x, p], dim=1), None))


def test_gamma_is_clamped_to_0_and_1() -> None:
    torch.manual_seed(0)
    batch = batch_of(random_graphs(4, seed=0))
    model = build_model("san-lspe", SHAPES, {"width": 16, "layers": 2, "gamma": 1.0}).eval()
    before = model(batch)
    model.gamma.data += 3
    assert torch.equal(model(batch), before)
    model.gamma.data -= 3.5
    assert not torch.equal(model(batch), before)


@pytest.mark.parametrize(
    ("name", "centred"), [("gatedgcn-lspe", True), ("pna-lspe", True), ("san-lspe", False), ("graphit-lspe", False)]
)
def test_centred_positions_add_nothing_to_a_sum_over_nodes(name: str, centred: bool) -> None:
    torch.manual_seed(0)
    shapes = replace(SHAPES, encoding_dim=ENCODING)
    model = build_model(name, shapes, {"width": 40, "layers": 2, "readout": "sum"}).double().eval()
    batch = batch_of(random_graphs(4, seed=0))
    before = model(batch)
    nn.init.normal_(model.output.position.weight)
    assert torch.allclose(model(batch), before, rtol=0, atol=1e-9) == centred
