"""RingGNN, 3WL-GNN and DiffPool as wholes: published sizes, batches of mixed sizes, expressive power."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tests.helpers.samples import DEGENERATE, EDGE_TYPES, NODE_TYPES, graph_set, random_graphs, skip_links, whole

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.nn import Shapes, build_model, count_parameters
from graphtrial.published import Configuration, configurations

NAMES = {"RingGNN": "ringgnn", "3WLGNN": "3wl-gnn"}
SHAPES = {
    "ZINC": Shapes(outputs=1, level="graph", node_types=28, edge_types=4),
    "ZINC-full": Shapes(outputs=1, level="graph", node_types=28, edge_types=4),
    "AQSOL": Shapes(outputs=1, level="graph", node_types=65, edge_types=5),
    "MNIST": Shapes(outputs=10, level="graph", node_dim=3, edge_dim=1),
    "CIFAR10": Shapes(outputs=10, level="graph", node_dim=5, edge_dim=1),
    "PATTERN": Shapes(outputs=2, level="node", node_types=3),
    "CLUSTER": Shapes(outputs=6, level="node", node_types=7),
    "TSP": Shapes(outputs=2, level="edge", node_dim=2, edge_dim=1),
    "CSL": Shapes(outputs=10, level="graph", node_types=1, edge_types=1),
    "CSL with encoding": Shapes(outputs=10, level="graph", node_types=1, encoding_dim=20, encoding_replaces=True),
    "ENZYMES": Shapes(outputs=6, level="graph", node_dim=18),
    "DD": Shapes(outputs=2, level="graph", node_dim=89),
    "PROTEINS": Shapes(outputs=2, level="graph", node_dim=29),
}
RELEASED = [config for config in configurations() if config.model in NAMES.values()]


def label(config: Configuration) -> str:
    return f"{config.printed.dataset}-{config.model}{config.printed.variant}-{config.params}"


@pytest.mark.slow
@pytest.mark.parametrize("config", RELEASED, ids=label)
def test_released_configuration_has_exactly_its_parameters(config: Configuration) -> None:
    shapes = SHAPES["CSL with encoding" if config.encoding != "none" else config.printed.dataset]
    with torch.device("meta"):
        assert count_parameters(build_model(config.model, shapes, dict(config.settings))) == config.params


def test_every_dataset_of_the_papers_is_covered() -> None:
    assert len(RELEASED) == 70  # 76 with repetitions by other seeds
    assert {config.printed.dataset for config in RELEASED} == SHAPES.keys() - {"CSL with encoding"}


@pytest.mark.parametrize(
    ("shapes", "settings", "params"),
    [
        (SHAPES["ZINC"], {"width": 33}, 97978),
        (SHAPES["ZINC"], {"width": 33, "edge_features": True}, 104403),
        (SHAPES["TSP"], {"width": 94, "edge_features": True}, 507938),
        (SHAPES["TSP"], {"width": 32, "layers": 8, "residual": True, "edge_features": True}, 506564),
    ],
)
def test_published_ringgnn_sizes_that_no_configuration_has(
    shapes: Shapes, settings: dict[str, Any], params: int
) -> None:
    with torch.device("meta"):
        assert count_parameters(build_model("ringgnn", shapes, settings)) == params


@pytest.mark.parametrize(
    ("shapes", "settings", "params"),
    [
        (SHAPES["ENZYMES"], {"width": 64, "clusters": 18, "slots": 20}, 94782),
        (SHAPES["DD"], {"width": 8, "clusters": 862, "slots": 10}, 165342),
        (SHAPES["DD"], {"width": 32, "clusters": 862, "slots": 10}, 592230),
        (SHAPES["PROTEINS"], {"width": 22, "clusters": 93, "slots": 20}, 93780),
        (SHAPES["PROTEINS"], {"width": 32, "clusters": 93, "slots": 20}, 137390),
        (SHAPES["MNIST"], {"width": 32, "clusters": 11, "slots": 128}, 106538),
        (SHAPES["CIFAR10"], {"width": 32, "embedding": 16, "clusters": 22, "slots": 128}, 108042),
        (SHAPES["ZINC"], {"width": 56, "clusters": 5, "slots": 128}, 110561),
    ],
)
def test_diffpool_has_every_published_size(shapes: Shapes, settings: dict[str, Any], params: int) -> None:
    with torch.device("meta"):
        assert count_parameters(build_model("diffpool", shapes, settings)) == params


@pytest.mark.slow
@pytest.mark.parametrize("level", ["graph", "node", "edge"])
@pytest.mark.parametrize("name", NAMES.values())
@pytest.mark.parametrize("worth", [0, 40, 10**6])
def test_batched_graphs_match_single_graphs(name: str, level: Any, worth: int) -> None:
    torch.manual_seed(0)
    shapes = Shapes(outputs=2, level=level, node_types=NODE_TYPES, edge_types=EDGE_TYPES)
    settings = {"width": 6, "layers": 2, "residual": True, "edge_features": True}
    model = build_model(name, shapes, settings).double()
    graphs = graph_set([*DEGENERATE, *random_graphs(8, seed=0, max_nodes=14)])
    alone = torch.cat([model(GraphBatch.from_set(graphs, [graph])) for graph in range(len(graphs))])
    model.worth = worth  # type: ignore[assignment]
    torch.testing.assert_close(model(whole(graphs)), alone, rtol=1e-10, atol=1e-10)


def test_float32_rounding_does_not_depend_on_the_batch() -> None:
    torch.manual_seed(0)
    model = build_model("3wl-gnn", SHAPES["ZINC"], {"width": 32})
    graphs = graph_set(random_graphs(16, seed=0, max_nodes=25))
    with torch.no_grad():
        alone = torch.cat([model(GraphBatch.from_set(graphs, [graph])) for graph in range(len(graphs))])
        model.worth = 10**6  # type: ignore[assignment]
        batched = model(whole(graphs))
    torch.testing.assert_close(batched, alone, rtol=1e-4, atol=1e-4 * alone.abs().max().item())


def test_3wl_distinguishes_csl_without_encodings() -> None:
    torch.manual_seed(5)
    model = build_model("3wl-gnn", SHAPES["CSL"], {"width": 32, "layers": 3}).double().eval()
    first, again, second = model(whole(skip_links([2, 2, 3])))
    torch.testing.assert_close(first, again, rtol=1e-9, atol=1e-9)
    assert (first - second).abs().max() > 1e-4
    plain = build_model("gin", SHAPES["CSL"], {"width": 32, "layers": 3}).double().eval()
    first, second = plain(whole(skip_links([2, 3])))
    torch.testing.assert_close(first, second, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", NAMES.values())
def test_link_tasks_raise(name: str) -> None:
    with pytest.raises(GraphTrialError, match="graph or node or edge"):
        build_model(name, Shapes(outputs=1, level="pair", node_dim=3), {"width": 8})


def test_ringgnn_second_switch_starts_at_inverse_mean_size() -> None:
    for shapes, settings, nodes in (
        (Shapes(outputs=1, level="graph", node_types=3, mean_nodes=40.0), {}, 40),
        (Shapes(outputs=1, level="graph", node_types=3, mean_nodes=40.0), {"average_nodes": 24.0}, 24),
    ):
        model = build_model("ringgnn", shapes, {"width": 8, **settings})
        assert model.layers[0].switch.tolist() == pytest.approx([1, 0.5 / nodes])  # type: ignore[index, union-attr]


def test_diffpool_batch_norm_option_adds_norm_parameters() -> None:
    shapes = Shapes(outputs=1, level="graph", node_types=NODE_TYPES)
    settings = {"width": 12, "layers": 2}
    with_norms, without = (build_model("diffpool", shapes, {**settings, "batch_norm": on}) for on in (True, False))
    norms = 2 * (12 + 12 + 12 + 8)  # weight and bias of two layers, the features and the assignment
    assert count_parameters(with_norms) - count_parameters(without) == norms
    assert without(whole(graph_set(random_graphs(4, seed=0)))).shape == (4, 1)
