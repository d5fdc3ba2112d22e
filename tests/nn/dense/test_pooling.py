"""The step of DiffPool against PyG's."""

from __future__ import annotations

import pytest
import torch
from tests.helpers.samples import DEGENERATE, batch_of, graph_set, random_graphs, vectors, whole

from graphtrial.graphs import GraphBatch
from graphtrial.nn import Shapes, build_model
from graphtrial.nn.dense.pooling import diffpool

pyg = pytest.importorskip("torch_geometric.nn.dense.diff_pool")
utils = pytest.importorskip("torch_geometric.utils")
GRAPHS = random_graphs(7, seed=5)  # with self-loops and parallel edges


def test_pooled_batch_matches_pyg() -> None:
    batch = batch_of(GRAPHS)
    x, logits = vectors(batch.num_nodes, 5), vectors(batch.num_nodes, 3, seed=1)
    dense_x, mask = utils.to_dense_batch(x, batch.batch)
    dense_logits, _ = utils.to_dense_batch(logits, batch.batch)
    adjacency = utils.to_dense_adj(batch.edge_index, batch.batch).double()
    expected_x, expected_adjacency, _, _ = pyg.dense_diff_pool(dense_x, adjacency, dense_logits, mask)
    actual = diffpool(batch, x, logits.softmax(dim=1))
    torch.testing.assert_close(actual.x, expected_x)
    torch.testing.assert_close(actual.adjacency, expected_adjacency)


def test_losses_of_a_graph_equal_pyg() -> None:
    graphs = graph_set(GRAPHS)
    losses = []
    for graph in range(len(GRAPHS)):
        batch = GraphBatch.from_set(graphs, [graph])
        logits = vectors(batch.num_nodes, 3, seed=graph)
        adjacency = utils.to_dense_adj(batch.edge_index, max_num_nodes=batch.num_nodes).double()
        actual = diffpool(batch, logits, logits.softmax(dim=1))
        _, _, link, entropy = pyg.dense_diff_pool(logits, adjacency, logits)
        torch.testing.assert_close(actual.link_loss, link)
        torch.testing.assert_close(actual.entropy, entropy)
        losses.append((link, entropy, batch.num_nodes))
    batched = diffpool(
        whole(graphs),
        torch.zeros(whole(graphs).num_nodes, 1, dtype=torch.float64),
        torch.cat([vectors(n, 3, seed=graph) for graph, (n, _) in enumerate(GRAPHS)]).softmax(dim=1),
    )
    torch.testing.assert_close(batched.link_loss, torch.stack([link for link, _, _ in losses]).mean())
    nodes = torch.tensor([n for _, _, n in losses])
    entropies = torch.stack([entropy for _, entropy, _ in losses])
    torch.testing.assert_close(batched.entropy, (entropies * nodes).sum() / nodes.sum())


def test_backward_passes_gradcheck() -> None:
    batch = batch_of([(3, [(0, 1), (1, 0), (1, 2)]), (1, []), (2, [(0, 1)])])
    x, logits = vectors(6, 2).requires_grad_(), vectors(6, 2, seed=1).requires_grad_()
    assert torch.autograd.gradcheck(lambda x, s: tuple(diffpool(batch, x, s.softmax(dim=1))), (x, logits))


def test_training_adds_both_losses_of_the_last_batch() -> None:
    torch.manual_seed(0)
    model = build_model("diffpool", Shapes(outputs=1, level="graph", node_types=28), {"width": 8, "clusters": 3})
    batch = batch_of([*DEGENERATE, *GRAPHS])
    model(batch)
    loss = model.extra_loss()  # type: ignore[operator]
    assert torch.isfinite(loss)
    assert loss > 0
    loss.backward()
    assert model.assignment.linear.weight.grad.any()  # type: ignore[union-attr]


def test_assignment_weights_are_per_batch_slot() -> None:
    torch.manual_seed(0)
    shapes = Shapes(outputs=2, level="graph", node_types=28)
    model = build_model("diffpool", shapes, {"width": 8, "clusters": 3, "slots": 2}).double().eval()
    graphs = graph_set([GRAPHS[0], GRAPHS[0], GRAPHS[0]])
    graphs = graphs.with_column("x", graphs.columns["x"].__class__(graphs.column("x").values * 0, "node", types=28))
    first, second, third = model(whole(graphs))
    torch.testing.assert_close(first, third)
    assert not torch.allclose(first, second)
