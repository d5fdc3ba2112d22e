"""Encoders of positions: formulas by loops, missing eigenvectors, signs, and which part goes where."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tests.helpers.graphgps import SIMPLE, batch, shaken
from tests.helpers.samples import EDGE_TYPES, NODE_TYPES, vectors
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric.nn import GINConv

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.nn import Shapes, build_model, count_parameters
from graphtrial.nn.position.eigenpairs import EigenDeepSet, EigenTransformer
from graphtrial.nn.position.encoder import PositionConfig, PositionEncoder
from graphtrial.nn.position.signnet import SignNet
from graphtrial.nn.shapes import EncodingShape

K = 5


def eigenpairs(graph: GraphBatch, k: int = K) -> Tensor:
    """Random eigenpairs, NaN where a graph has fewer nodes than k."""
    values = vectors(graph.num_nodes, 2 * k, seed=8)
    missing = torch.arange(k) >= graph.ptr.diff()[graph.batch].unsqueeze(1)
    return values.masked_fill(torch.cat([missing, missing], dim=1), torch.nan)


def pairs_of(row: Tensor) -> list[Tensor]:
    """The eigenpairs of a node that are there."""
    return [pair for pair in row.view(2, -1).t() if not pair.isnan().any()]


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_deepset_sums_over_present_eigenpairs(layers: int) -> None:
    values, encoder = eigenpairs(batch(SIMPLE)), shaken(EigenDeepSet(6, layers))
    expected = [sum(encoder.mlp(pair) for pair in pairs_of(row)) for row in values]
    torch.testing.assert_close(encoder(values), torch.stack(expected))


def test_transformer_masks_missing_eigenpairs_and_sums() -> None:
    values, encoder = eigenpairs(batch(SIMPLE)), shaken(EigenTransformer(8, 2)).eval()
    expected = []
    for row in values:
        states = encoder.linear(torch.stack(pairs_of(row))).unsqueeze(0)
        for layer in encoder.layers:
            states = layer(states)
        expected.append(states[0].sum(dim=0))
    torch.testing.assert_close(encoder(values), torch.stack(expected))
    out = encoder(torch.full((3, 2 * K), torch.nan, dtype=torch.float64))
    assert torch.equal(out, torch.zeros_like(out))
    assert encoder(values[:0]).shape == (0, 8)


def phi_of_pyg(phi: nn.Module, graph: GraphBatch, x: Tensor) -> Tensor:
    """Phi by PyG's GINConv on [K, nodes, width], batch norms in evaluation."""
    x = x.t().unsqueeze(2)
    for at, update in enumerate(phi.updates):
        if at:
            norm = phi.norms[at - 1]
            x = F.batch_norm(x.transpose(1, 2), norm.running_mean, norm.running_var, norm.weight, norm.bias).transpose(
                1, 2
            )
        summed = GINConv(nn.Identity())(x, graph.edge_index)
        x = update(summed.flatten(0, 1)).view(*summed.shape[:2], -1)
    return x.transpose(0, 1)


@pytest.mark.parametrize("deepset", [True, False])
def test_signnet_is_sign_invariant_and_uses_gin(deepset: bool) -> None:
    graph = batch(SIMPLE)
    values, encoder = eigenpairs(graph), shaken(SignNet(K, 6, deepset=deepset)).eval()
    vectors_, present = values[:, :K].nan_to_num(), ~values[:, :K].isnan()
    both = phi_of_pyg(encoder.phi, graph, vectors_) + phi_of_pyg(encoder.phi, graph, -vectors_)
    inner = (both * present.unsqueeze(2)).sum(dim=1) if deepset else both.flatten(1)
    out = encoder(graph, values)
    torch.testing.assert_close(out, encoder.rho(inner))
    signs = torch.tensor([1, -1, 1, -1, -1] + [1] * K)
    torch.testing.assert_close(encoder(graph, values * signs), out)


def test_each_encoding_is_routed_to_its_encoder() -> None:
    graph = batch(SIMPLE)
    parts = (EncodingShape("random-walk", 3), EncodingShape("laplacian-pairs", 2 * K), EncodingShape("degree", 2))
    shapes = Shapes(outputs=1, level="graph", encoding_dim=15, encodings=parts)
    encoder = shaken(PositionEncoder(shapes, PositionConfig(4, 6), 20, fill=False)).eval()
    values = torch.cat([vectors(graph.num_nodes, 3), eigenpairs(graph), vectors(graph.num_nodes, 2, seed=1)], dim=1)
    first, second, third = encoder.encoders
    expected = [first(values[:, :3]), second(values[:, 3:13]), third(values[:, 13:])]
    out = encoder(graph.with_column("encoding", values))
    torch.testing.assert_close(out, torch.cat(expected, dim=1))
    assert out.shape[1] == encoder.width == 14
    with pytest.raises(GraphTrialError, match="position_width"):
        PositionEncoder(shapes, PositionConfig(4, 6), 14, fill=False)
    assert PositionEncoder(shapes, PositionConfig(4, 6), 20, fill=True).width == 20


MODELS: list[tuple[str, dict[str, Any]]] = [
    *(
        ("gps", {"eigen_encoder": kind})
        for kind in ("deepset", "transformer", "signnet-mlp", "signnet-deepset", "stable")
    ),
    ("gps", {"eigen_layers": 3}),
    ("gps", {"eigen_width": 3}),
    ("san-gps", {"eigen_encoder": "deepset"}),
    ("san-gps", {"eigen_encoder": "transformer"}),
    ("san-gps", {"eigen_layers": 3}),
    *(("exphormer", {"eigen_encoder": kind}) for kind in ("stable", "deepset")),
    *((name, {}) for name in ("grit", "graphormer-gps", "gcn-plus", "gin-plus", "gatedgcn-plus", "gcn-graphgym")),
]


@pytest.mark.parametrize(("name", "settings"), MODELS, ids=str)
def test_models_use_their_eigenpairs(name: str, settings: dict[str, Any]) -> None:
    graph = batch(SIMPLE)
    parts = (EncodingShape("laplacian-pairs", 2 * K),)
    shapes = Shapes(
        outputs=2, level="graph", node_types=NODE_TYPES, edge_types=EDGE_TYPES, encoding_dim=2 * K, encodings=parts
    )
    model = shaken(build_model(name, shapes, {"width": 16, "layers": 2, **settings})).eval()
    values = eigenpairs(graph)
    out = model(graph.with_column("encoding", values))
    assert out.isfinite().all()
    assert not torch.allclose(out, model(graph.with_column("encoding", values.roll(1, 0).nan_to_num())))
    out.sum().backward()
    assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())
    given = {key: value for key, value in settings.items() if key != "eigen_encoder"}
    if given:
        assert count_parameters(model) != count_parameters(build_model(name, shapes, {"width": 16, "layers": 2}))


def test_multiple_categories_per_atom_are_embedded() -> None:
    graph = batch(SIMPLE)
    atoms = torch.stack([torch.arange(graph.num_nodes) % 7, torch.arange(graph.num_nodes) % 2], dim=1)
    bonds = torch.stack([torch.arange(graph.num_edges) % 3, torch.arange(graph.num_edges) % 2], dim=1)
    shapes = Shapes(outputs=2, level="graph", node_type_counts=(7, 2), edge_type_counts=(3, 2))
    model: Any = shaken(build_model("gin-plus", shapes, {"width": 8, "edge_features": True}))
    graph = graph.with_columns({"x": atoms, "edge_attr": bonds})
    first, second = (table.weight for table in model.node_input.feature.tables)
    torch.testing.assert_close(model.node_input(graph), first[atoms[:, 0]] + second[atoms[:, 1]])
    first, second = (table.weight for table in model.edge_input.feature.tables)
    torch.testing.assert_close(model.edge_input(graph), first[bonds[:, 0]] + second[bonds[:, 1]])


def test_equivariant_eigenvectors_gate_messages_as_eigenpairs_do() -> None:
    graph = batch(SIMPLE)
    vectors = torch.nan_to_num(eigenpairs(graph)[:, :K])
    settings = {"width": 16, "layers": 2, "eigen_encoder": "stable"}
    for name in ("gps", "exphormer"):
        of_pairs, of_vectors = (
            shaken(build_model(name, shapes_of(part), settings)).eval()
            for part in (EncodingShape("laplacian-pairs", 2 * K), EncodingShape("equivariant-laplacian", K))
        )
        of_vectors.load_state_dict(of_pairs.state_dict())
        pairs = torch.cat([vectors, torch.ones_like(vectors)], dim=1)
        expected = of_pairs(graph.with_column("encoding", pairs))
        torch.testing.assert_close(of_vectors(graph.with_column("encoding", vectors)), expected)


def shapes_of(part: EncodingShape) -> Shapes:
    return Shapes(2, "graph", NODE_TYPES, 0, EDGE_TYPES, encoding_dim=part.width, encodings=(part,))


def test_stable_positions_need_message_passing() -> None:
    shapes = shapes_of(EncodingShape("laplacian-pairs", 2 * K))
    with pytest.raises(GraphTrialError, match=r"eigen_encoder=stable .* use another eigen_encoder, or local="):
        build_model("gps", shapes, {"width": 16, "local": "none", "eigen_encoder": "stable"})


@pytest.mark.parametrize("name", ["san", "san-gps", "gps"])
@pytest.mark.parametrize("width", [8, 40, 72, 104])
def test_the_default_width_of_a_transformer_of_eigenpairs_fits_its_heads(name: str, width: int) -> None:
    given = {"eigen_encoder": "transformer"} if name == "gps" else {}
    build_model(name, shapes_of(EncodingShape("laplacian-pairs", 2 * K)), {"width": width, "layers": 1, **given})


@pytest.mark.parametrize("name", ["san", "san-gps"])
def test_a_width_that_heads_do_not_divide_is_an_error_for_people(name: str) -> None:
    settings = {"width": 40, "layers": 1, "position_width": 10}
    with pytest.raises(GraphTrialError, match="must be a multiple of 4, not 10"):
        build_model(name, shapes_of(EncodingShape("laplacian-pairs", 2 * K)), settings)


def test_other_parts_do_not_change_the_encoder_of_eigenpairs() -> None:
    parts = EncodingShape("random-walk", 3), EncodingShape("laplacian-pairs", 2 * K)
    shapes = Shapes(2, "graph", NODE_TYPES, 0, EDGE_TYPES, encoding_dim=3 + 2 * K, encodings=parts)
    san = build_model("san", shapes, {"width": 32, "layers": 1})
    assert san.node_encoder.eigen is not None
    assert san.node_encoder.position.in_features == 3
    signnet = build_model("signnet", shapes, {"width": 32, "layers": 1})
    assert [network.vectors for network in signnet.input.invariant.values()] == [K]
    assert signnet.input.position.in_features == 3 + K
