"""Pictures: the right drawer for each kind of data, the same bytes every time, and numbers that are right."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure
from tests.helpers.cli import CliRunner
from tests.helpers.samples import DEGENERATE, graph_set

from graphtrial.cli.main import app
from graphtrial.core.errors import GraphTrialError, MissingDependencyError
from graphtrial.datasets import Dataset, Split, load
from graphtrial.datasets.graph_statistics import node_homophily
from graphtrial.graphs import Column, GraphSet, from_networkx
from graphtrial.plots import plot
from graphtrial.plots.drawers import DRAWERS, drawer_of
from graphtrial.plots.drawers.base import typical
from graphtrial.plots.drawers.molecule import label
from graphtrial.plots.drawers.superpixels import mosaic
from graphtrial.plots.layout import discs, layout
from graphtrial.plots.subgraph import neighbourhood, whole
from graphtrial.tasks import EdgeClassification, GraphClassification, GraphRegression, NodeClassification, Task


def dataset_of(graphs: GraphSet, task: Task | None = None, **about: Any) -> Dataset:
    """A dataset made of these graphs, of which nothing but what pictures need is known."""
    spec: Any = SimpleNamespace(**{"node_names": (), "edge_names": (), "sources": (), **about})
    ids = np.arange(3)
    return Dataset("made/here", graphs, (Split(ids, ids, ids),), task or GraphRegression(), spec, {})


def with_classes(graphs: GraphSet, level: Any, classes: int = 3) -> GraphSet:
    values = np.arange(graphs.size[level]) % classes
    return graphs.with_column("y", Column(values, level, "class", types=classes))


def tours() -> GraphSet:
    points = np.random.default_rng(0).random((20, 2))
    graphs = from_networkx([nx.complete_graph(10), nx.complete_graph(10)])
    chosen = np.abs(graphs.edge_index[0].astype(int) - graphs.edge_index[1]) % 8 == 1
    return graphs.with_column("x", Column(points, "node", "coordinates")).with_column(
        "y", Column(chosen.astype(np.uint8), "edge", "in the tour", types=2)
    )


BLOCKS = with_classes(from_networkx([nx.gnp_random_graph(30, 0.2, seed=i) for i in range(4)]), "node")
CITATIONS = with_classes(from_networkx([nx.barabasi_albert_graph(400, 2, seed=1)]), "node", 7)
LARGE = with_classes(from_networkx([nx.barabasi_albert_graph(900, 1, seed=1), nx.path_graph(5)]), "graph", 2)
MOLECULES = GraphSet.build(
    [3, 2],
    [4, 2],
    [[0, 1, 1, 2, 0, 1], [1, 0, 2, 1, 1, 0]],
    {
        "x": Column(np.array([0, 1, 2, 0, 0]), "node", "atom type", types=3),
        "edge_attr": Column(np.array([1, 1, 2, 2, 3, 3]), "edge", "bond type", types=5),
        "y": Column(np.array([0.5, -1.25]), "graph", "target"),
    },
)
CHEMISTRY = {"node_names": ("C", "N H3 +", "O -"), "edge_names": ("none", "single", "double", "triple", "aromatic")}
KINDS: dict[str, Dataset] = {
    "tour": dataset_of(tours(), EdgeClassification()),
    "communities": dataset_of(BLOCKS, NodeClassification(3)),
    "neighbourhood": dataset_of(CITATIONS, NodeClassification(7)),
    "plain": dataset_of(LARGE, GraphClassification(2)),
    "molecule": dataset_of(MOLECULES, **CHEMISTRY),
}


DRAWN = [
    *(pytest.param(kind, "png", id=f"{kind}-png") for kind in KINDS),
    *(pytest.param(kind, "svg", id=f"{kind}-svg", marks=() if kind == "tour" else pytest.mark.long) for kind in KINDS),
]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "format"), DRAWN)
def test_every_drawer_is_deterministic(kind: str, format: str, tmp_path: Path) -> None:
    assert type(drawer_of(KINDS[kind])) is DRAWERS.get(kind)
    built = plot(KINDS[kind], tmp_path / "a", graphs=2, format=format)
    again = plot(KINDS[kind], tmp_path / "b", graphs=2, format=format)
    assert [path.name for path in built] == [f"made-here-graphs.{format}", f"made-here-statistics.{format}"]
    for path, other in zip(built, again, strict=True):
        content = path.read_bytes()
        assert content[:4] == b"\x89PNG" if format == "png" else b"</svg>" in content
        assert content == other.read_bytes()


@pytest.mark.slow
def test_circular_skip_links_are_rings_with_chords(tmp_path: Path) -> None:
    dataset = load("csl")
    drawer = drawer_of(dataset)
    assert type(drawer) is DRAWERS.get("ring")
    part = drawer.parts(10)[9]
    axes = Figure().subplots()
    drawer.draw(axes, part)
    assert "class 9, skip 16" in drawer.caption(part)
    (ring,) = (axes.collections[0],)
    assert len(ring.get_segments()) == 41
    assert len(axes.lines) == 41  # the chords
    lengths = [np.linalg.norm(np.diff(segment, axis=0)) for segment in ring.get_segments()]
    np.testing.assert_allclose(lengths, 2 * np.sin(np.pi / 41))
    plot(dataset, tmp_path, graphs=3)


def test_tour_edges_are_counted_once_and_drawn_in_red() -> None:
    drawer = drawer_of(KINDS["tour"])
    part = drawer.parts(1)[0]
    axes = Figure().subplots()
    drawer.draw(axes, part)
    assert "10 links of the tour, in red" in drawer.caption(part)
    others, tour = axes.collections[:2]
    assert (len(others.get_segments()), len(tour.get_segments())) == (35, 10)
    assert tour.get_color()[0][:3].tolist() == pytest.approx([0xD6 / 255, 0x27 / 255, 0x28 / 255])


@pytest.mark.slow
@pytest.mark.parametrize("graphs", [graph_set([g for g in DEGENERATE if g[0]]), graph_set([(1, [])])])
def test_degenerate_graphs_are_drawn(graphs: GraphSet, tmp_path: Path) -> None:
    assert all(path.stat().st_size for path in plot(dataset_of(graphs), tmp_path, graphs=9))


def test_empty_graphs_raise(tmp_path: Path) -> None:
    with pytest.raises(GraphTrialError, match="nothing to draw"):
        plot(dataset_of(graph_set([(0, []), (0, [])])), tmp_path)


@pytest.mark.parametrize(("graphs", "format", "message"), [(6, "pdf", "png or svg"), (0, "png", "1 to 48")])
def test_invalid_arguments_raise(graphs: int, format: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(GraphTrialError, match=message):
        plot(KINDS["plain"], tmp_path, graphs=graphs, format=format)


def test_absent_matplotlib_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'graphtrial\[plots\]'"):
        plot(KINDS["plain"], tmp_path)


def test_homophily_matches_a_loop() -> None:
    for graphs in (BLOCKS, CITATIONS):
        labels, expected = graphs.column("y").values, []
        for graph in range(len(graphs)):
            part = whole(graphs, graph)
            for node in range(len(part.nodes)):
                near = part.ends[0, part.ends[1] == node]
                if len(near):
                    own = labels[part.nodes[node]]
                    expected.append(float(np.mean(labels[part.nodes[near]] == own)))
        np.testing.assert_allclose(node_homophily(graphs), expected)


def test_neighbourhood_is_the_induced_subgraph_of_nearest_nodes() -> None:
    part = neighbourhood(CITATIONS, 0, 17, 40)
    graph = nx.barabasi_albert_graph(400, 2, seed=1)
    assert len(part.nodes) == 40
    assert part.nodes[0] == 17
    distance = nx.single_source_shortest_path_length(graph, 17)
    reached = [distance[int(node)] for node in part.nodes]
    assert reached == sorted(reached)
    assert {n for n in graph if distance[n] < max(reached)} <= set(part.nodes.tolist())
    assert part.ends.shape[1] == 2 * graph.subgraph(part.nodes.tolist()).number_of_edges()


def test_samples_cover_classes_or_size_quantiles() -> None:
    graphs = from_networkx([nx.path_graph(n) for n in (9, 3, 5, 7, 2, 4)])
    assert typical(dataset_of(with_classes(graphs, "graph")), 3) == [0, 1, 2]
    assert [int(graphs.node_counts[i]) for i in typical(dataset_of(graphs), 3)] == [3, 5, 9]
    assert sorted(typical(dataset_of(with_classes(graphs, "graph")), 40)) == [0, 1, 2, 3, 4, 5]


def test_component_layouts_do_not_overlap() -> None:
    graph = nx.disjoint_union_all([nx.cycle_graph(6), nx.path_graph(4), nx.empty_graph(2)])
    places = layout(12, np.array(graph.edges).T)
    between = np.linalg.norm(places[:, None] - places[None], axis=2)[np.triu_indices(12, 1)]
    assert between.min() > 0.4
    groups = np.repeat([0, 1, 2], [30, 5, 17])
    spots = discs(groups)
    gaps = np.linalg.norm(spots[:, None] - spots[None], axis=2)
    assert gaps[groups[:, None] != groups[None]].min() > 1.0


@pytest.mark.parametrize(
    ("word", "text"), [("C", ""), ("C H1", ""), ("N H3 +", "NH₃⁺"), ("O -", "O⁻"), ("N H1 +", "NH⁺"), ("Cl", "Cl")]
)
def test_atom_labels_are_skeletal_formulas(word: str, text: str) -> None:
    assert label(word) == text


def test_voronoi_image_has_superpixel_colours() -> None:
    x = np.array([[0.2, 0.25, 0.25], [0.9, 0.75, 0.75]])
    image = mosaic(x, 4)
    assert image[0, 0] == 0.2
    assert image[3, 3] == 0.9


@pytest.mark.slow
def test_plot_command_writes_both_files(tmp_path: Path) -> None:
    words = ["data", "plot", "csl", "--out", str(tmp_path), "--graphs", "2", "--format", "svg"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["csl-graphs.svg", "csl-statistics.svg"]
    wrong = CliRunner().invoke(app, [*words[:-1], "pdf"])
    assert wrong.exit_code == 2
    assert wrong.stderr == "graphtrial: pictures are written as png or svg, not as 'pdf'\n"
