"""Superpixels of MNIST digits and synthetic photographs, and their graphs against a naive computation."""

from __future__ import annotations

import pickle
import sys
import zipfile
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from tests.io.test_image_files import write_binary, write_idx, write_python

from graphtrial.core.errors import CorruptFileError, MissingDependencyError
from graphtrial.datasets import superpixels
from graphtrial.datasets.images.knn_graph import gaussian_neighbours
from graphtrial.datasets.images.slic import segments
from graphtrial.datasets.images.slic import superpixels as cut
from graphtrial.datasets.superpixels import ARCHIVE, BINARY, CIFAR10, IDX, MNIST, PUBLISHED, PYTHON
from graphtrial.graphs import GraphSet
from graphtrial.io.idx import read_idx

pytest.importorskip("skimage")


@pytest.fixture
def digits(mirror: Path) -> npt.NDArray[np.uint8]:
    return read_idx(mirror / "MNIST" / "t10k-images-idx3-ubyte.gz")[:24]


def test_superpixels_cover_the_image_and_preserve_its_mean(digits: npt.NDArray[np.uint8]) -> None:
    for image in digits:
        labels = segments(image, max_segments=75, n_segments=95, compactness=0.25)
        actual = cut(image, max_segments=75, n_segments=95, compactness=0.25)
        assert 40 <= len(actual.colour) <= 75
        counts = np.bincount(labels.reshape(-1))
        assert (counts > 0).all()
        assert actual.colour[:, 0] @ counts == pytest.approx(image.sum() / 255)
        assert actual.centre.T @ counts == pytest.approx([13.5 * 784] * 2)


def test_single_images_match_the_batch(digits: npt.NDArray[np.uint8]) -> None:
    """Against the plain loop, which cuts again for each number asked for."""
    again = 0
    for image in digits:
        ask, plain = 95, None
        while plain is None or plain.max() + 1 > 75:
            plain = segments(image, max_segments=10_000, n_segments=ask, compactness=0.25)
            ask -= 1
        again += ask < 94
        np.testing.assert_array_equal(segments(image, max_segments=75, n_segments=95, compactness=0.25), plain)
    assert again > 1


def test_segments_are_invariant_to_brightness_and_contrast() -> None:
    image = np.random.default_rng(0).integers(0, 64, (28, 28), np.uint8)
    weaker = segments(image, max_segments=99, n_segments=60, compactness=0.05)
    # Four times the contrast with four times the compactness is the same choice; scaling each image would differ.
    np.testing.assert_array_equal(segments(image * 4, max_segments=99, n_segments=60, compactness=0.2), weaker)
    assert (segments(image, max_segments=99, n_segments=60, compactness=0.2) != weaker).any()


def test_neighbours_match_the_full_similarity_matrix() -> None:
    points = np.random.default_rng(1).random((30, 2))
    edges, weights = gaussian_neighbours(points, 8)
    full = np.zeros((30, 30))
    for i in range(30):
        for j in range(30):
            scales = []
            for k in (i, j):
                near = sorted(float(np.hypot(*(points[k] - points[m]))) for m in range(30) if m != k)[:8]
                scales.append(sum(near) / 8)
            distance = float(np.hypot(*(points[i] - points[j])))
            full[i, j] = sum(np.exp(-((distance / scale) ** 2)) for scale in scales) / 2 if i != j else 0.0
    assert edges.shape == (2, 240)
    np.testing.assert_allclose(weights, full[edges[0], edges[1]], rtol=1e-6)
    for i in range(30):
        chosen = set(edges[1, edges[0] == i].tolist())
        assert chosen == set(np.argsort(-full[i])[:8].tolist())


@pytest.mark.parametrize(("count", "edges"), [(1, 1), (2, 2), (9, 72), (10, 80)])
def test_few_superpixels_form_a_complete_graph(count: int, edges: int) -> None:
    actual, weights = gaussian_neighbours(np.random.default_rng(count).random((count, 2)), 8)
    assert actual.shape == (2, edges)
    assert weights.shape == (edges,)
    assert count == 1 or (actual[0] != actual[1]).all()


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(superpixels, "CHUNK", 4)
    for kind in (MNIST, CIFAR10):
        monkeypatch.setattr(kind, "parts", (4, 2, 3))


def test_mnist_digits_become_graphs(small: None, digits: npt.NDArray[np.uint8], tmp_path: Path) -> None:
    labels = np.arange(9, dtype=np.uint8)
    content = (digits[:6], labels[:6], digits[6:9], labels[6:])
    raw = {
        file.name: write_idx(tmp_path / Path(file.name).name, values) for file, values in zip(IDX, content, strict=True)
    }
    graphs = MNIST().parse(MNIST.sources[1], raw)
    check(graphs, side=28, features=3)
    np.testing.assert_array_equal(graphs.column("y").values, labels)
    (split,) = MNIST().split(graphs, MNIST.sources[1], raw)
    assert [ids.tolist() for ids in split.parts.values()] == [[2, 3, 4, 5], [0, 1], [6, 7, 8]]
    assert graphs.node_counts.min() >= 40
    assert graphs.node_counts.max() <= 75


def test_both_cifar_formats_give_the_same_graphs(small: None, tmp_path: Path) -> None:
    raw = {BINARY.name: write_binary(tmp_path / "b.tar.gz"), PYTHON.name: write_python(tmp_path / "p.tar.gz")}
    graphs = CIFAR10().parse(CIFAR10.sources[1], raw)
    check(graphs, side=32, features=5)
    assert len(graphs) == 13
    assert graphs.node_counts.max() <= 150
    assert graphs.content_hash == CIFAR10().parse(CIFAR10.sources[2], raw).content_hash


def check(graphs: GraphSet, side: int, features: int) -> None:
    x, weights = graphs.column("x").values, graphs.column("edge_attr").values
    assert x.shape[1] == features
    assert x.min() >= 0
    assert x.max() <= 1
    assert (graphs.out_degree == 8).all()
    assert (graphs.edge_index[0] != graphs.edge_index[1]).all()
    assert weights.min() >= 0
    assert weights.max() <= 1
    np.testing.assert_array_equal(x, x.astype(np.float16))
    assert (x[:, -2:] <= (side - 1) / side).all()


def write_published(path: Path, content: bytes) -> dict[str, Path]:
    with zipfile.ZipFile(path, "w") as built:
        for part in ("train", "test"):
            built.writestr(f"superpixels/mnist_75sp_{part}.pkl", content)
    return {ARCHIVE.name: path}


def test_published_superpixels_give_the_same_graphs(small: None, digits: npt.NDArray[np.uint8], tmp_path: Path) -> None:
    actual = [cut(image, max_segments=75, n_segments=95, compactness=0.25) for image in digits[:6]]
    order = np.arange(5, dtype=np.int32)
    images = [(f.colour.astype(np.float32), f.centre.astype(np.float32), order) for f in actual]
    content = pickle.dumps((np.arange(6, dtype=np.int32), images), protocol=2)
    graphs = MNIST().parse(PUBLISHED, write_published(tmp_path / "superpixels.zip", content))
    assert len(graphs) == 12
    check(graphs, side=28, features=3)
    labels = np.arange(6, dtype=np.uint8)
    content_of_idx = (digits[:6], labels, digits[:6], labels)
    raw = {f.name: write_idx(tmp_path / Path(f.name).name, v) for f, v in zip(IDX, content_of_idx, strict=True)}
    ours = MNIST().parse(MNIST.sources[1], raw)
    np.testing.assert_array_equal(graphs.node_ptr, ours.node_ptr)
    np.testing.assert_array_equal(graphs.column("y").values, ours.column("y").values)
    np.testing.assert_allclose(graphs.column("x").values, ours.column("x").values, atol=1e-3)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"cos\nsystem\n(X\x04\x00\x00\x00truetR.", "was not read: the pickle asks for os.system"),
        (pickle.dumps([1, 2, 3]), "has no superpixels"),
        (pickle.dumps((np.zeros(2), [(np.zeros((3, 1)), np.zeros((3, 2)))])), "has no superpixels"),
    ],
)
def test_unexpected_pickles_raise(content: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(CorruptFileError, match=message):
        MNIST().parse(PUBLISHED, write_published(tmp_path / "superpixels.zip", content))


def test_absent_scikit_image_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "skimage.color", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'graphtrial\[vision\]'"):
        segments(np.zeros((28, 28), np.uint8), max_segments=75, n_segments=95, compactness=0.25)
