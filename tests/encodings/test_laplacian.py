"""Laplacian eigenvectors against NumPy, SciPy, NetworkX and PyG."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import numpy.typing as npt
import pytest
import torch
from scipy.linalg import eigvalsh
from tests.helpers.samples import DEGENERATE, Graph, graph_set, plain_graphs, random_graphs, skip_links
from torch_geometric.transforms import AddLaplacianEigenvectorPE

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.spec import Component
from graphtrial.encodings import ENCODINGS, encode, spectrum
from graphtrial.encodings.laplacian import LaplacianPE
from graphtrial.graphs import GraphSet, from_networkx, to_pyg

Matrix = npt.NDArray[np.float64]
SETS: dict[str, GraphSet] = {
    "small": graph_set(DEGENERATE),
    "random": graph_set(random_graphs(30, seed=0, undirected=True)),
    "directed": graph_set(random_graphs(30, seed=1)),
    "plain": from_networkx(plain_graphs(5, seed=0)),
    "skip links": skip_links([2, 3, 16]),
    "degenerate": from_networkx([nx.complete_graph(9), nx.cycle_graph(12), nx.star_graph(7), nx.empty_graph(6)]),
    "in parts": from_networkx([nx.disjoint_union(nx.cycle_graph(4), nx.path_graph(5)), nx.path_graph([0, 2, 1])]),
}


@pytest.fixture(params=SETS)
def graphs(request: pytest.FixtureRequest) -> GraphSet:
    return SETS[request.param]


def parts(graphs: GraphSet, values: npt.NDArray[np.float32]) -> list[Matrix]:
    """The rows of each graph."""
    return [part.astype(np.float64) for part in np.split(values, graphs.node_ptr[1:-1])]


def by_definition(graphs: GraphSet, graph: int) -> Matrix:
    """The normalised Laplacian, one entry at a time."""
    nodes = int(graphs.node_counts[graph])
    adjacency = np.zeros((nodes, nodes))
    for source, target in graphs.edge_index[:, graphs.edge_ptr[graph] : graphs.edge_ptr[graph + 1]].T:
        adjacency[source, target] += 0.5
        adjacency[target, source] += 0.5
    degree = np.maximum(adjacency.sum(axis=0), 1)
    matrix = np.eye(nodes)
    for i in range(nodes):
        for j in range(nodes):
            matrix[i, j] -= adjacency[i, j] / np.sqrt(degree[i] * degree[j])
    return matrix


@pytest.mark.parametrize("k", [1, 4, 20])
def test_columns_are_the_next_smallest_eigenvectors_also_where_eigenvalues_repeat(graphs: GraphSet, k: int) -> None:
    for graph, vectors in enumerate(parts(graphs, LaplacianPE(k).compute(graphs))):
        nodes = len(vectors)
        remaining = max(0, min(k, nodes - 1))
        matrix = by_definition(graphs, graph)
        values = eigvalsh(matrix)[1 : remaining + 1] if nodes else np.zeros(0)
        np.testing.assert_allclose(matrix @ vectors[:, :remaining], vectors[:, :remaining] * values, atol=1e-6)


@pytest.mark.parametrize("k", [4, 20])
def test_columns_are_orthonormal_and_padded_with_zeros(graphs: GraphSet, k: int) -> None:
    for vectors in parts(graphs, LaplacianPE(k).compute(graphs)):
        remaining = max(0, min(k, len(vectors) - 1))
        np.testing.assert_allclose(vectors[:, :remaining].T @ vectors[:, :remaining], np.eye(remaining), atol=1e-6)
        assert not vectors[:, remaining:].any()


def test_eigenvalues_match_networkx() -> None:
    items = [*plain_graphs(4, seed=5), nx.petersen_graph(), nx.circulant_graph(41, [1, 5])]
    graphs = from_networkx(items)
    for item, vectors in zip(items, parts(graphs, LaplacianPE(6).compute(graphs)), strict=True):
        matrix = nx.normalized_laplacian_matrix(item).toarray()
        np.testing.assert_allclose(np.einsum("nk,nm,mk->k", vectors, matrix, vectors), eigvalsh(matrix)[1:7], atol=1e-6)


@pytest.mark.parametrize("k", [1, 3, 8])
def test_vectors_match_pyg_up_to_sign(k: int) -> None:
    graphs = from_networkx(plain_graphs(8, seed=20))
    transform = AddLaplacianEigenvectorPE(k, attr_name="pe", is_undirected=True)
    for item, ours in zip(to_pyg(graphs), parts(graphs, LaplacianPE(k).compute(graphs)), strict=True):
        theirs = transform(item).pe.double().numpy()
        signs = np.sign((ours * theirs).sum(axis=0))
        np.testing.assert_allclose(ours, theirs * signs, atol=1e-5)


def test_trivial_vector_of_a_connected_graph_is_dropped() -> None:
    graphs = from_networkx(plain_graphs(5, seed=40))
    for graph, vectors in enumerate(parts(graphs, LaplacianPE(5).compute(graphs))):
        trivial = np.sqrt(graphs.in_degree[graphs.node_ptr[graph] : graphs.node_ptr[graph + 1]])
        np.testing.assert_allclose(trivial @ vectors, 0, atol=1e-5)


def test_one_trivial_vector_is_dropped_for_disconnected_graphs() -> None:
    graphs = from_networkx([nx.disjoint_union_all([nx.cycle_graph(5)] * 3)])
    vectors, matrix = LaplacianPE(3).compute(graphs).astype(np.float64), by_definition(graphs, 0)
    np.testing.assert_allclose(matrix @ vectors[:, :2], 0, atol=1e-6)
    assert np.linalg.norm(matrix @ vectors[:, 2]) > 0.1


def test_directed_graph_is_symmetrised() -> None:
    one_way: list[Graph] = [(5, [(0, 1), (0, 1), (1, 2), (1, 2), (2, 3), (2, 3), (3, 4), (3, 4), (4, 0), (4, 0)])]
    both = [(5, [*one_way[0][1][::2], *((v, u) for u, v in one_way[0][1][::2])])]
    np.testing.assert_array_equal(LaplacianPE(3).compute(graph_set(one_way)), LaplacianPE(3).compute(graph_set(both)))


@pytest.mark.parametrize("sign", ["random", "fixed"])
def test_entry_of_largest_magnitude_is_positive(graphs: GraphSet, sign: str) -> None:
    for vectors in parts(graphs, LaplacianPE(6, sign).compute(graphs)):  # type: ignore[arg-type]
        for column in vectors.T:
            if column.any():
                nearly = np.flatnonzero(np.abs(column) >= np.abs(column).max() * (1 - 1e-7))
                assert (column[nearly] > 0).any()
                assert column.max() >= np.abs(column).max() * (1 - 1e-6)


def test_ties_of_magnitude_use_the_first_entry() -> None:
    path = spectrum.fix_signs(torch.tensor([[-0.7, 0.5], [0.7, -0.6], [0.1, 0.6]], dtype=torch.float64))
    assert path.tolist() == [[0.7, -0.5], [-0.7, 0.6], [-0.1, -0.6]]
    wobbling = torch.tensor([[-0.5], [0.5 + 1e-14]], dtype=torch.float64)
    assert spectrum.fix_signs(wobbling)[0] > 0
    assert spectrum.fix_signs(torch.zeros(2, 3, 0)).shape == (2, 3, 0)


def test_sign_absolute_takes_absolute_values(graphs: GraphSet) -> None:
    np.testing.assert_array_equal(
        LaplacianPE(5, "absolute").compute(graphs), np.abs(LaplacianPE(5, "fixed").compute(graphs))
    )


def test_random_signs_are_drawn_per_column_and_batch() -> None:
    values = torch.from_numpy(LaplacianPE(8).compute(SETS["plain"]))
    encoding, generator = LaplacianPE(8), torch.Generator().manual_seed(1)
    seen = []
    for _ in range(40):
        view = encoding.training_view(values, generator)
        ratio = torch.where(values != 0, view / values, torch.nan)
        signs = ratio.nanmean(dim=0)
        assert set(signs.tolist()) <= {-1.0, 1.0}
        assert torch.equal(view, values * signs)  # the same for every node of every graph
        seen.append(signs)
    assert set(torch.stack(seen).T.reshape(-1).tolist()) == {-1.0, 1.0}
    assert len({tuple(signs.tolist()) for signs in seen}) > 20
    again, state = torch.Generator().manual_seed(1), torch.get_rng_state()
    assert torch.equal(encoding.training_view(values, again), values * seen[0])
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("sign", ["fixed", "absolute"])
def test_other_sign_options_use_no_random_numbers(sign: str) -> None:
    values, generator = torch.randn(7, 3), torch.Generator().manual_seed(1)
    before = generator.get_state()
    assert LaplacianPE(3, sign).training_view(values, generator) is values  # type: ignore[arg-type]
    assert torch.equal(generator.get_state(), before)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_encoding_is_bit_exact_for_any_number_of_threads(threads: int) -> None:
    expected = LaplacianPE(20).compute(SETS["skip links"])
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        np.testing.assert_array_equal(LaplacianPE(20).compute(SETS["skip links"]), expected)
        assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)


def test_chunked_decomposition_is_bit_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = graph_set(random_graphs(40, seed=3, undirected=True))
    expected = LaplacianPE(4).compute(graphs)
    monkeypatch.setattr(spectrum, "DENSE_NUMBERS", 100)
    np.testing.assert_array_equal(LaplacianPE(4).compute(graphs), expected)


def test_invalid_arguments_raise() -> None:
    for k in (0, -1, 2.5, "8", True, None):
        with pytest.raises(GraphTrialError, match="k of LaplacianPE must be an integer from 1"):
            LaplacianPE(k)  # type: ignore[arg-type]
    with pytest.raises(GraphTrialError, match=r"sign of LaplacianPE must be 'random' or .*, not 'flip'"):
        LaplacianPE(4, "flip")  # type: ignore[arg-type]


def test_first_positional_argument_is_the_number_of_vectors() -> None:
    component = Component.parse("laplacian:20,sign=fixed", ENCODINGS.get)
    built = ENCODINGS.get(component.name)(**component.arguments)
    assert isinstance(built, LaplacianPE)
    assert (built.width, built.sign) == (20, "fixed")


class Counted:
    """Counts how often the encoding is computed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls = 0
        compute = LaplacianPE.compute

        def counting(encoding: LaplacianPE, graphs: GraphSet) -> npt.NDArray[np.float32]:
            self.calls += 1
            return compute(encoding, graphs)

        monkeypatch.setattr(LaplacianPE, "compute", counting)


def folders(home: Path) -> list[Path]:
    return sorted(path for path in (home / "encodings").iterdir() if path.is_dir())


def test_second_call_uses_the_cache(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counted, graphs = Counted(monkeypatch), SETS["random"]
    first = encode(graphs, LaplacianPE(4), "encoding")
    second = encode(graph_set(random_graphs(30, seed=0, undirected=True)), LaplacianPE(4, "fixed"), "other")
    assert counted.calls == 1
    np.testing.assert_array_equal(first.column("encoding").values, second.column("other").values)
    assert first.column("encoding").level == "node"
    assert set(first.columns) == {*graphs.columns, "encoding"}


def test_cache_key_depends_on_arguments_graphs_and_version(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counted, graphs = Counted(monkeypatch), SETS["random"]
    for encoding in (LaplacianPE(4), LaplacianPE(5), LaplacianPE(4, "absolute")):
        assert encode(graphs, encoding, "encoding").column("encoding").width == encoding.width
    encode(SETS["directed"], LaplacianPE(4), "encoding")
    monkeypatch.setattr(LaplacianPE, "version", LaplacianPE.version + 1)
    encode(graphs, LaplacianPE(4), "encoding")
    assert counted.calls == len(folders(own_home)) == 5


@pytest.mark.parametrize("damage", ["flipped byte", "cut off", "missing", "manifest"])
def test_corrupt_cache_is_rebuilt(own_home: Path, monkeypatch: pytest.MonkeyPatch, damage: str) -> None:
    counted, graphs = Counted(monkeypatch), SETS["random"]
    expected = encode(graphs, LaplacianPE(4), "encoding").column("encoding").values.copy()
    (folder,) = folders(own_home)
    file = folder / ("set.json" if damage == "manifest" else "values.npy")
    content = bytearray(file.read_bytes())
    file.unlink()
    if damage != "missing":
        content[-1] ^= 0x40
        file.write_bytes(content[: -9 if damage == "cut off" else None])
    for _ in range(2):
        again = encode(graphs, LaplacianPE(4), "encoding")
        np.testing.assert_array_equal(again.column("encoding").values, expected)
    assert counted.calls == 2
