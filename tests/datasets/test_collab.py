"""OGBL-COLLAB from an archive of the published layout, and its stand-in."""

from __future__ import annotations

import gzip
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from graphtrial.core.errors import CorruptFileError, GraphTrialError
from graphtrial.datasets import DATASETS, load
from graphtrial.datasets.collab import ARCHIVE, find
from graphtrial.datasets.generators.collab import network
from graphtrial.graphs import GraphSet

AUTHORS, LINKS = 40, 90


def gz(rows: Any) -> bytes:
    return gzip.compress("".join(",".join(map(str, np.atleast_1d(row))) + "\n" for row in rows).encode())


def torch_bytes(value: Any, folder: Path, new: bool) -> bytes:
    torch.save(value, folder / "part.pt", _use_new_zipfile_serialization=new)
    return (folder / "part.pt").read_bytes()


def members(folder: Path, *, new: bool = False, tensors: bool = False) -> dict[str, bytes]:
    """The files of a small OGBL-COLLAB with parallel links; arrays or tensors in either torch format."""
    chance = np.random.default_rng(5)

    def pairs(count: int) -> Any:
        built = chance.integers(0, AUTHORS, (count, 2))
        return torch.from_numpy(built) if tensors else built

    edges = chance.integers(0, AUTHORS, (LINKS, 2))
    edges[1] = edges[0]
    parts = {
        "train": {"edge": torch.from_numpy(edges) if tensors else edges, "weight": np.ones(LINKS)},
        "valid": {"edge": pairs(12), "edge_neg": pairs(30), "year": np.full(12, 2018)},
        "test": {"edge": pairs(9), "edge_neg": pairs(25)},
    }
    return {
        "collab/raw/edge.csv.gz": gz(edges),
        "collab/raw/edge_weight.csv.gz": gz(chance.integers(1, 9, LINKS)),
        "collab/raw/edge_year.csv.gz": gz(2000 + np.arange(LINKS) % 18),
        "collab/raw/node-feat.csv.gz": gz(chance.normal(size=(AUTHORS, 128)).round(6)),
        "collab/raw/num-node-list.csv.gz": gz([AUTHORS]),
        "collab/RELEASE_v1.txt": b"",
        **{f"collab/split/time/{name}.pt": torch_bytes(part, folder, new) for name, part in parts.items()},
    }


def parsed(name: str, folder: Path, files: dict[str, bytes]) -> tuple[GraphSet, Any]:
    with zipfile.ZipFile(folder / "collab.zip", "w") as archive:
        for member, content in files.items():
            archive.writestr(member, content)
    spec, raw = DATASETS.get(name)(), {ARCHIVE.name: folder / "collab.zip"}
    graphs = spec.parse(spec.sources[0], raw)
    (split,) = spec.split(graphs, spec.sources[0], raw)
    return graphs, split


@pytest.mark.parametrize("new", [False, True])
@pytest.mark.parametrize("tensors", [False, True])
def test_published_layout_is_read(new: bool, tensors: bool, tmp_path: Path) -> None:
    files = members(tmp_path, new=new, tensors=tensors)
    graphs, split = parsed("ogbl-collab", tmp_path, files)
    edges = np.loadtxt(gzip.decompress(files["collab/raw/edge.csv.gz"]).decode().splitlines(), delimiter=",", dtype=int)
    assert (graphs.num_nodes, graphs.num_edges) == (AUTHORS, 2 * LINKS)
    both = sorted(map(tuple, np.concatenate([edges, edges[:, ::-1]]).tolist()), key=lambda edge: edge[::-1])
    assert list(map(tuple, graphs.edge_index.T.tolist())) == both
    assert split.sizes == (LINKS, 42, 34)
    pairs, linked = graphs.column("pairs").values, graphs.column("y").values
    np.testing.assert_array_equal(pairs[split.train], edges)
    assert linked[split.val].tolist() == [1] * 12 + [0] * 30
    assert linked[split.test].tolist() == [1] * 9 + [0] * 25
    assert graphs.column("x").values.shape == (AUTHORS, 128)


def test_both_directions_have_weight_and_year(tmp_path: Path) -> None:
    files = members(tmp_path)
    graphs, _ = parsed("ogbl-collab", tmp_path, files)
    text = {name: gzip.decompress(files[f"collab/raw/{name}.csv.gz"]).decode().split() for name in
            ("edge", "edge_weight", "edge_year")}  # fmt: skip
    expected = set()
    for ends, weight, year in zip(text["edge"], text["edge_weight"], text["edge_year"], strict=True):
        a, b = map(int, ends.split(","))
        expected |= {(a, b, float(weight), float(year)), (b, a, float(weight), float(year))}
    actual = np.concatenate([graphs.edge_index.T, graphs.column("edge_attr").values], axis=1)
    assert set(map(tuple, actual.tolist())) == expected


def test_reference_ranks_against_fewer_negatives(tmp_path: Path) -> None:
    graphs, split = parsed("ogbl-collab-as-published", tmp_path, members(tmp_path))
    assert split.sizes == (LINKS, 24, 18)
    assert graphs.column("y").values[split.val].tolist() == [1] * 12 + [0] * 12


class Evil:
    """Unpickling it would call os.system."""

    def __reduce__(self) -> Any:
        return os.system, ("touch EVIL",)


@pytest.mark.parametrize("new", [False, True])
@pytest.mark.parametrize("part", ["train", "valid", "test"])
def test_code_in_the_split_raises(part: str, new: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    files = members(tmp_path)
    files[f"collab/split/time/{part}.pt"] = torch_bytes({"edge": Evil()}, tmp_path, new)
    with pytest.raises(CorruptFileError, match=rf"{part}.pt was not read: the pickle asks for (posix|nt).system"):
        parsed("ogbl-collab", tmp_path, files)
    assert not (tmp_path / "EVIL").exists()


def test_corrupt_file_gives_one_line_error(tmp_path: Path) -> None:
    whole = members(tmp_path)
    cases = {
        r"edge.csv.gz names an author outside 0 to 39": {"collab/raw/edge.csv.gz": gz([(0, AUTHORS)] * LINKS)},
        r"edge.csv.gz line 2: 'x' is not an integer": {"collab/raw/edge.csv.gz": gz([(0, 1), ("x", 2)])},
        r"edge.csv.gz cannot be unpacked": {"collab/raw/edge.csv.gz": whole["collab/raw/edge.csv.gz"][:-9]},
        r"has features of 40 of 41 authors": {"collab/raw/num-node-list.csv.gz": gz([41])},
        r"weights of 3 and years of 90 of 90 links": {"collab/raw/edge_weight.csv.gz": gz([1, 2, 3])},
        r"valid.pt holds no 'edge_neg'": {
            "collab/split/time/valid.pt": torch_bytes({"edge": np.zeros((2, 2), int)}, tmp_path, False)
        },
        r"test.pt holds float64 of shape \(2, 2\) instead of pairs": {
            "collab/split/time/test.pt": torch_bytes({"edge": np.zeros((2, 2))}, tmp_path, False)
        },
        r"collab.zip does not hold collab/raw/edge.csv.gz": {"collab/raw/edge.csv.gz": None},
    }
    for message, change in cases.items():
        files = {name: content for name, content in (whole | change).items() if content is not None}
        with pytest.raises(CorruptFileError, match=rf"^[^\n]*{message}[^\n]*$"):
            parsed("ogbl-collab", tmp_path, files)


def test_synthetic_dataset_has_shapes_of_the_original() -> None:
    built = load("ogbl-collab-standin-2000")
    scale = 2000 / 235_868
    assert built.graphs.num_nodes == 2000
    assert built.graphs.num_edges == pytest.approx(2_358_104 * scale, rel=0.01)
    train, val, test = built.splits[0].sizes
    assert train == pytest.approx(1_179_052 * scale, rel=0.01)
    assert val == pytest.approx(160_084 * scale, rel=0.01)
    assert test == pytest.approx(146_329 * scale, rel=0.01)
    years = built.graphs.column("edge_attr").values[:, 1]
    assert years.min() >= 1963
    assert years.max() <= 2017
    pairs = built.graphs.column("pairs").values[built.splits[0].train]
    assert (pairs[:, 0] != pairs[:, 1]).all()
    assert len(np.unique(np.sort(pairs), axis=0)) < len(pairs), "some pairs write together in several years"


def test_names_of_synthetic_datasets_contain_their_size() -> None:
    assert DATASETS.get("ogbl-collab-standin-5000") is find("ogbl-collab-standin-5000")
    assert find("ogbl-collab-standin-0500") is None
    assert find("ogbl-collab-standin-") is None
    with pytest.raises(GraphTrialError, match="has 100 to 2358680 authors, not 99"):
        network(99, 0)


def test_synthetic_links_are_learnable() -> None:
    built = load("ogbl-collab-standin-2000")
    graphs, split = built.graphs, built.splits[0]
    x, pairs = graphs.column("x").values, graphs.column("pairs").values[split.val]
    scores = torch.from_numpy((x[pairs[:, 0]] * x[pairs[:, 1]]).sum(axis=1, keepdims=True))
    target = torch.from_numpy(np.array(graphs.column("y").values[split.val]))
    assert built.task.score(scores, target) > 60
    assert built.task.score(torch.zeros(len(pairs), 1), target) == 0
