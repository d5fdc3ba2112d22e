"""Models and layers of PyG by `module:attribute`, without a wrapper."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from tests.helpers.samples import (
    DEGENERATE,
    EDGE_TYPES,
    NODE_TYPES,
    batch_of,
    graph_set,
    random_graphs,
    relabelled,
    whole,
)
from torch import Tensor, nn
from torch_geometric.nn import GATv2Conv, models

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.plugins.permissions import allow
from graphtrial.graphs import GraphBatch
from graphtrial.nn import MODELS, Shapes, build_model, count_parameters, model_settings, width_for_budget
from graphtrial.nn.registry import resolve_settings

HISTOGRAM = (2, 5, 9, 4)
GRAPHS = [*(graph for graph in DEGENERATE if graph[0]), *random_graphs(6, seed=0)]
"""Without graphs of no nodes, on which some norms of PyG fail."""
CASES: dict[str, dict[str, Any]] = {
    "torch_geometric.nn.models:PNA": {"towers": 2, "edge_features": True},
    "torch_geometric.nn.models:GIN": {"norm": "batch_norm", "jk": "cat"},
    "torch_geometric.nn.models:GAT": {"v2": True, "heads": 4, "edge_features": True},
    "torch_geometric.nn.models:GraphSAGE": {"aggr": "max"},
    "torch_geometric.nn.models:EdgeCNN": {},
    "torch_geometric.nn:GPSConv": {"heads": 4, "edge_features": True, "norm": "layer_norm"},
    "torch_geometric.nn:GATv2Conv": {"heads": 4, "share_weights": True},
    "torch_geometric.nn:GINEConv": {},
}


@pytest.fixture(autouse=True)
def allowed() -> None:
    allow(*CASES)


def shapes(level: Any = "graph", outputs: int = 2) -> Shapes:
    return Shapes(
        outputs=outputs, level=level, node_types=NODE_TYPES, edge_types=EDGE_TYPES, degree_histogram=HISTOGRAM
    )


@pytest.mark.parametrize("level", ["graph", "node", "edge"])
@pytest.mark.parametrize("name", CASES)
def test_every_parameter_gets_a_gradient_at_every_level(name: str, level: str) -> None:
    torch.manual_seed(0)
    batch = batch_of(random_graphs(6, seed=1))
    model = build_model(name, shapes(level), {"width": 16, "layers": 2, **CASES[name]})
    logits = model(batch)
    rows = {"graph": batch.num_graphs, "node": batch.num_nodes, "edge": batch.num_edges}[level]
    assert logits.shape == (rows, 2)
    logits.square().sum().backward()
    assert [key for key, p in model.named_parameters() if p.grad is None] == []


@pytest.mark.parametrize("name", CASES)
def test_permuting_nodes_and_batching_keep_the_logits(name: str) -> None:
    torch.manual_seed(0)
    graphs = graph_set(GRAPHS)
    model = build_model(name, shapes(), {"width": 16, "layers": 2, **CASES[name]}).double()
    model(whole(graphs))
    model.eval()
    expected = model(whole(graphs))
    torch.testing.assert_close(model(whole(relabelled(graphs, seed=0)[0])), expected, rtol=1e-9, atol=1e-9)
    alone = torch.cat([model(GraphBatch.from_set(graphs, [graph])) for graph in range(len(graphs))])
    torch.testing.assert_close(alone, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_budget_gives_the_largest_width_that_can_be_built(name: str) -> None:
    settings = {"layers": 3, **CASES[name]}
    width = width_for_budget(name, shapes(), settings, 60_000)
    step = max(settings.get("heads", 1), settings.get("towers", 1))
    assert width % step == 0
    used = count_parameters(build_model(name, shapes(), {**settings, "width": width}))
    assert used <= 60_000 < count_parameters(build_model(name, shapes(), {**settings, "width": width + step}))


def test_gat_equals_pyg_between_encoder_and_head() -> None:
    name = "torch_geometric.nn.models:GAT"
    model: Any = build_model(
        name, shapes("node"), {"width": 16, "layers": 3, "v2": True, "heads": 2, "norm": "layer_norm"}
    )
    theirs = models.GAT(16, 16, 3, v2=True, heads=2, norm="layer_norm")
    assert isinstance(theirs.convs[0], GATv2Conv)
    theirs.load_state_dict(model.body[0].state_dict())
    batch = batch_of(random_graphs(4, seed=3))
    states = theirs(model.node_encoder(batch), batch.edge_index, batch=batch.batch)
    assert torch.equal(model(batch), model.head(batch, [states]))


def test_pna_scales_by_the_degrees_of_the_training_part() -> None:
    model: Any = build_model("torch_geometric.nn.models:PNA", shapes(), {"width": 8, "layers": 1})
    scaler = model.body[0].convs[0].aggr_module
    assert scaler.init_avg_deg_log == pytest.approx(shapes().mean_log_degree)
    assert scaler.init_avg_deg_lin == pytest.approx(sum(d * n for d, n in enumerate(HISTOGRAM)) / sum(HISTOGRAM))


def test_settings_come_from_the_constructor_and_its_layers() -> None:
    settings = model_settings("torch_geometric.nn.models:GAT")
    assert {"v2": False, "heads": 1, "norm": "none", "layers": 4, "width": None}.items() <= settings.items()
    assert not {"in_channels", "hidden_channels", "out_channels", "act_kwargs", "edge_dim"} & set(settings)
    assert model_settings("torch_geometric.nn.models:PNA")["aggregators"] == "mean min max std"
    assert "edge_features" not in model_settings("torch_geometric.nn.models:GIN")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"head": 4}, r"no setting 'head'\. Did you mean 'heads'\?"),
        ({"heads": 3}, "must be a multiple of 3"),
        ({"heads": "four"}, "heads of model .* must be an integer from 1"),
        ({"v2": 1}, "v2 of model .* must be true or false"),
        ({"dropout": 1.5}, "dropout of model"),
    ],
)
def test_wrong_settings_are_refused_in_one_line(given: dict[str, Any], message: str) -> None:
    with pytest.raises(GraphTrialError, match=message):
        resolve_settings("torch_geometric.nn.models:GAT", {"width": 16, **given})


def test_error_of_the_constructor_is_one_line() -> None:
    with pytest.raises(GraphTrialError, match="GAT cannot be built with these settings: ValueError: Could not resolve"):
        build_model("torch_geometric.nn.models:GAT", shapes(), {"width": 16, "act": "nothing"})


class OwnNet(nn.Module):
    """A model as users of PyG write it, whose forward takes the batch."""

    def __init__(self, in_channels: int, hidden_channels: int, scale: float = 1.0) -> None:
        super().__init__()
        self.lin = nn.Linear(in_channels, hidden_channels)
        self.scale = float(torch.tensor(scale).item())  # fails on the meta device

    def forward(self, data: GraphBatch) -> Tensor:
        out: Tensor = self.lin(data.x) * self.scale
        return out


class Halved(nn.Module):
    """A whole model of two halves that does not declare `width_divisor`."""

    def __init__(self, shapes: Shapes, width: int) -> None:
        super().__init__()
        if width % 8:
            raise ValueError("width must be a multiple of 8")
        self.lin = nn.Linear(width, shapes.outputs)


@pytest.fixture
def own_models() -> Iterator[None]:
    MODELS.add("own-net", OwnNet)
    MODELS.add("halved", Halved)
    yield
    MODELS.remove("own-net")
    MODELS.remove("halved")


@pytest.mark.usefixtures("own_models")
def test_model_that_reads_tensors_in_its_constructor_has_a_budget() -> None:
    before = torch.get_rng_state()
    width = width_for_budget("own-net", shapes(), {"scale": 2.0}, 10_000)
    assert torch.equal(torch.get_rng_state(), before)
    model = build_model("own-net", shapes(), {"width": width, "scale": 2.0})
    assert count_parameters(model) <= 10_000
    assert model(batch_of(random_graphs(3, seed=0))).shape == (3, 2)


@pytest.mark.usefixtures("own_models")
def test_width_that_a_model_refuses_names_width_divisor() -> None:
    with pytest.raises(GraphTrialError, match=r"cannot be built with width=4: ValueError: .* `width_divisor`"):
        width_for_budget("halved", shapes(), {}, 10_000)
