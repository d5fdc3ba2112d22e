"""SignNet's network of eigenvectors against its equations, with GIN layers of PyG."""

from __future__ import annotations

import pytest
import torch
from tests.helpers.samples import Graph, batch_of, random_graphs, vectors
from torch import Tensor, nn
from torch_geometric.nn import GINConv

from graphtrial.graphs import GraphBatch
from graphtrial.nn import Shapes, build_model
from graphtrial.nn.position.sign_invariant import SignInvariant
from graphtrial.nn.shapes import EncodingShape

GRAPHS: list[Graph] = [*random_graphs(4, seed=0, undirected=True), (2, [(0, 1), (1, 0)])]
COLUMNS = 5


def build(batch: GraphBatch, *, summed: bool) -> SignInvariant:
    """A network that has seen a batch, so that its norms do something."""
    torch.manual_seed(0)
    network = SignInvariant(EncodingShape("laplacian", COLUMNS), 8, phi_width=3, summed=summed).double()
    network(batch, vectors(batch.num_nodes, COLUMNS))
    return network.eval()


def phi(network: SignInvariant, batch: GraphBatch, vector: Tensor) -> Tensor:
    """The GIN on one eigenvector."""
    x = vector.unsqueeze(1)
    for at, update in enumerate(network.phi.updates):
        x = network.phi.norms[at - 1](x) if at else x
        conv = GINConv(nn.Identity())  # would reset the weights of an MLP that it is given
        conv.nn = update
        x = conv(x, batch.edge_index)
    return x


@pytest.mark.parametrize("summed", [True, False])
def test_positions_equal_their_equation_and_do_not_depend_on_signs(summed: bool) -> None:
    batch = batch_of(GRAPHS)
    network, values = build(batch, summed=summed), vectors(batch.num_nodes, COLUMNS, seed=4)
    parts = [phi(network, batch, v) + phi(network, batch, -v) for v in values.T]
    if summed:
        nodes = torch.bincount(batch.batch)[batch.batch].unsqueeze(1)
        inner = sum(part * (k < nodes) for k, part in enumerate(parts))
    else:
        inner = torch.cat(parts, dim=1)
    torch.testing.assert_close(network(batch, values), network.rho(inner))
    signs = torch.tensor([1, -1, -1, 1, -1], dtype=torch.float64)
    torch.testing.assert_close(network(batch, values * signs), network(batch, values))


def test_eigenvalues_are_ignored() -> None:
    torch.manual_seed(0)
    batch = batch_of(GRAPHS)
    shapes = Shapes(1, "graph", node_types=28, encoding_dim=6, encodings=(EncodingShape("laplacian-pairs", 6),))
    model = build_model("signnet", shapes, {"width": 16, "layers": 2}).eval()
    values = torch.randn(batch.num_nodes, 6)
    other = torch.cat([-values[:, :3], values[:, 3:] + 1], dim=1)
    torch.testing.assert_close(
        model(batch.with_column("encoding", values)), model(batch.with_column("encoding", other))
    )


@pytest.mark.parametrize(("base", "width"), [("gin", 16), ("pna", 20), ("transformer", 16)])
@pytest.mark.parametrize("idle", [True, False])
def test_output_does_not_depend_on_the_batch(base: str, width: int, idle: bool) -> None:
    torch.manual_seed(0)
    shapes = Shapes(2, "graph", node_types=28, edge_types=4, encoding_dim=3)
    settings = {"base": base, "width": width, "layers": 3, "edge_features": True, "idle_parameters": idle}
    model = build_model("signnet", shapes, settings).double().eval()
    batch = batch_of(GRAPHS)
    out = model(batch)
    assert out.isfinite().all()
    alone = batch_of(GRAPHS[:1])
    same = {name: batch.columns[name][: len(values)] for name, values in alone.columns.items()}
    torch.testing.assert_close(model(alone.with_columns(same))[0], out[0])


@pytest.mark.parametrize("base", ["gin", "pna", "gatedgcn", "transformer"])
def test_dropout_reaches_positions_and_layers(base: str) -> None:
    torch.manual_seed(0)
    shapes = Shapes(2, "graph", node_types=28, edge_types=4, encoding_dim=3)
    settings = {"base": base, "width": 40, "layers": 2, "dropout": 0.5, "edge_features": base != "gin"}
    model = build_model("signnet", shapes, settings).train()
    batch = batch_of(GRAPHS)
    assert not torch.equal(model.input(batch), model.input(batch))  # type: ignore[operator]
    x = torch.randn(batch.num_nodes, 40)
    e = None if base == "gin" else model.edge_encoder(batch)  # type: ignore[operator]
    arguments = (e, e, None) if base == "transformer" else (e,)
    first, second = (model.blocks[0](batch, x, *arguments) for _ in range(2))  # type: ignore[index,operator]
    assert not torch.equal(*(out[0] if base == "gatedgcn" else out for out in (first, second)))
