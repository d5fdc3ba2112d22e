"""Cora, CiteSeer and PubMed: papers that cite each other."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse

from graphtrial.core.errors import CorruptFileError
from graphtrial.core.temporary import temporary_folder
from graphtrial.datasets.base import DATASETS, DatasetSpec, Source, Split
from graphtrial.datasets.planetoid_files import HASHES, PARTS, PUBLIC_HASHES
from graphtrial.datasets.statistics import Difference, Statistics
from graphtrial.graphs import Column, GraphSet
from graphtrial.graphs.storage import UNREADABLE
from graphtrial.io.archive import unpack
from graphtrial.io.pickles.reader import load
from graphtrial.io.pickles.records import Record
from graphtrial.io.sources import GIBIBYTE, File
from graphtrial.tasks import NodeClassification

Array = npt.NDArray[Any]
_PLANETOID = "https://raw.githubusercontent.com/kimiyoung/planetoid/master/data"
_NPZ = "https://raw.githubusercontent.com/shchur/gnn-benchmark/master/data/npz"
PER_CLASS, VAL, TEST = 20, 500, 1000
MATRICES = tuple(f"{name}_{part}" for name in ("adj", "attr") for part in ("data", "indices", "indptr", "shape"))
_SECOND_HAND = (
    "The same papers from the collection of Shchur et al. (2018), in another order and without the public split: a "
    "split of the same sizes is drawn instead, so that scores do not compare one by one with those on the public one."
)


def sources(name: str) -> tuple[Source, Source]:
    """Return the original pickles of a citation graph, and the plain arrays that came later."""
    pickles = tuple(_file(f"planetoid/ind.{name}.{part}", _PLANETOID, f"{name}.{part}") for part in PARTS)
    arrays = _file(f"npz/{name}.npz", _NPZ, f"{name}.npz")
    return (
        Source(
            "planetoid",
            "The original files of Yang et al. (2016) with the public split.",
            pickles,
            hashes=PUBLIC_HASHES.get(name, ()),
        ),
        Source(
            "npz", _SECOND_HAND, (arrays,), exact=False, deviation="another split than the public one, of its sizes"
        ),
    )


def _file(path: str, site: str, key: str) -> File:
    sha256, size = HASHES.get(key, (None, None))
    return File(path, f"{site}/{Path(path).name}", sha256, size, "MIT", GIBIBYTE)


class Citations(DatasetSpec):
    """A citation graph: classify papers by their words and by which of them cite each other.

    One graph, edges both ways, each link once, no self-loops; x: word features as published (not normalised by row);
    y: the field of a paper. One split: 20 papers of each class / 500 / 1,000; the other papers are in no part.
    """

    domain = "citations"
    licence = "MIT (planetoid; gnn-benchmark)"
    paper = "Sen et al. 2008; Yang et al. 2016 (arXiv:1603.08861)"
    protocol = "bgnn-v5/wikics"
    split_level = "node"
    splits_complete = False
    classes: ClassVar[int]

    def parse(self, source: Source, raw: Mapping[str, Path]) -> GraphSet:
        if source.name == "planetoid":
            x, y, ends = read_planetoid({part: raw[f"planetoid/ind.{self.name}.{part}"] for part in PARTS})
        else:
            x, y, ends = read_npz(raw[f"npz/{self.name}.npz"])
        nodes = len(y)
        links = both_ways(ends, nodes)
        columns = {
            "x": Column(x, "node", "words of the paper"),
            "y": Column(y.astype(np.uint8), "node", "field of the paper", types=self.classes),
        }
        return GraphSet.build([nodes], [links.shape[1]], links, columns)

    def split(self, graphs: GraphSet, source: Source, raw: Mapping[str, Path]) -> Sequence[Split]:
        if source.name == "npz":
            return [drawn_split(self.name, np.asarray(graphs.column("y").values))]
        train = len(_matrix(load(raw[f"planetoid/ind.{self.name}.y"])))
        test = _test_index(raw[f"planetoid/ind.{self.name}.test.index"])
        return [Split(np.arange(train), np.arange(train, train + VAL), np.sort(test))]


def read_planetoid(raw: Mapping[str, Path]) -> tuple[Array, Array, Array]:
    """Return words [papers, words], fields [papers] and citations [2, citations] of the original files.

    `allx` holds the first papers, `tx` the test papers in the order of `test.index`. Papers that the index leaves out
    have neither words nor field: they get zeros and field 0, and are in no part of the split.
    """
    try:
        first, tested = _matrix(load(raw["allx"])), _matrix(load(raw["tx"]))
        first_fields, tested_fields = _matrix(load(raw["ally"])), _matrix(load(raw["ty"]))
        index = _test_index(raw["test.index"])
        nodes = max(len(first), int(index.max()) + 1)
        _check_size(nodes, first.shape[1])
        x = np.zeros((nodes, first.shape[1]), np.float32)
        hot = np.zeros((nodes, first_fields.shape[1]), np.int64)
        x[: len(first)], hot[: len(first)] = first, first_fields
        x[index], hot[index] = tested, tested_fields
        neighbours = load(raw["graph"])
        ends = np.array([(paper, int(other)) for paper, others in neighbours.items() for other in others], np.int64).T
    except (ValueError, TypeError, AttributeError, IndexError, KeyError) as error:
        raise CorruptFileError(f"the planetoid files do not belong together ({error})") from error
    if ends.shape[0] != 2 or ends.min() < 0 or ends.max() >= nodes:
        raise CorruptFileError(f"the citations name a paper outside 0 to {nodes - 1}")
    return x, hot.argmax(axis=1), ends


def read_npz(path: Path) -> tuple[Array, Array, Array]:
    """Return words, fields and citations of the plain arrays; names, which some files pickle, are not read."""
    members = [f"{name}.npy" for name in (*MATRICES, "labels")]
    limit = GIBIBYTE
    with temporary_folder() as place:
        folder = Path(place) / "npz"
        unpack(path, members, folder, member_bytes=limit, total_bytes=limit)
        try:
            arrays = {name: np.load(folder / name, allow_pickle=False) for name in members}
            adjacency, words = (_sparse({k: arrays[f"{name}_{k}.npy"] for k in _KEYS}) for name in ("adj", "attr"))
        except (*UNREADABLE, IndexError) as error:
            raise CorruptFileError(f"{path.name} holds no citation graph ({error})") from error
    found = adjacency.tocoo()
    return (words.toarray() > 0).astype(np.float32), arrays["labels.npy"].astype(np.int64), np.stack(found.coords)


def both_ways(ends: Array, nodes: int) -> Array:
    """Return each link [2, links] once in each direction, without self-loops."""
    source, target = np.concatenate([ends, ends[::-1]], axis=1).astype(np.int64)
    keys = np.unique((source * nodes + target)[source != target])
    return np.stack([keys // nodes, keys % nodes])


def drawn_split(name: str, fields: Array) -> Split:
    """Return a split of the public sizes in the order of a SHA-256 of the graph's name and each paper's number."""
    keys = [hashlib.sha256(f"{name}/{paper}".encode()).digest() for paper in range(len(fields))]
    order = np.array(sorted(range(len(fields)), key=keys.__getitem__))
    train = np.sort(np.concatenate([order[fields[order] == field][:PER_CLASS] for field in np.unique(fields)]))
    rest = order[~np.isin(order, train)]
    return Split(train, np.sort(rest[:VAL]), np.sort(rest[VAL : VAL + TEST]))


_KEYS = ("data", "indices", "indptr", "shape")


def _matrix(thing: Any) -> Array:
    """Return what a planetoid file holds, an array or a sparse matrix, as an array."""
    if isinstance(thing, Record):
        parts = thing.attributes
        shape = parts.get("_shape", parts.get("shape"))
        return np.asarray(_sparse({**{k: parts[k] for k in _KEYS[:3]}, "shape": shape}).toarray())
    if not isinstance(thing, np.ndarray) or thing.ndim != 2:
        raise CorruptFileError(f"a planetoid file holds a {type(thing).__name__} where a matrix was expected")
    return thing


def _sparse(parts: Mapping[str, Any]) -> scipy.sparse.csr_array:
    """Return the sparse matrix of these arrays; its indices are checked, because nobody vouches for them."""
    rows, columns = (int(size) for size in parts["shape"])
    _check_size(rows, columns)
    made = scipy.sparse.csr_array((parts["data"], parts["indices"], parts["indptr"]), shape=(rows, columns))
    made.check_format(full_check=True)
    return made


def _check_size(rows: int, columns: int) -> None:
    """Refuse sizes that no citation graph has, before memory is asked for."""
    if rows < 0 or columns < 0 or rows * columns > 10**9:
        raise ValueError(f"a matrix of {rows} x {columns}")


def _test_index(path: Path) -> npt.NDArray[np.int64]:
    try:
        index = np.array(path.read_text(encoding="ascii").split(), np.int64)
    except (ValueError, OverflowError) as error:
        raise CorruptFileError(f"{path.name} is no list of papers ({error})") from error
    if not len(index) or index.min() < 0 or index.max() > 10**7:
        raise CorruptFileError(f"{path.name} is no list of papers")
    return index


@DATASETS.register("cora", title="Cora")
class Cora(Citations):
    """Cora: 2,708 papers on machine learning in seven fields, and which of them cite each other."""

    name = "cora"
    classes = 7
    task = NodeClassification(classes, metric="accuracy")
    sources = sources("cora")
    published = Statistics(
        graphs=1,
        nodes=2708,
        edges=5429,
        classes=classes,
        features=1433,
        split=(140, VAL, TEST),
        undirected=True,
        differences={"edges": Difference(5278, "the published number counts 151 links twice; here each is there once")},
    )


@DATASETS.register("citeseer", title="CiteSeer")
class CiteSeer(Citations):
    """CiteSeer: 3,327 papers on computer science in six fields, and which of them cite each other."""

    name = "citeseer"
    classes = 6
    task = NodeClassification(classes, metric="accuracy")
    sources = sources("citeseer")
    published = Statistics(
        graphs=1,
        nodes=3327,
        edges=4732,
        classes=classes,
        features=3703,
        split=(120, VAL, TEST),
        undirected=True,
        differences={
            "edges": Difference(
                4552, "the published number counts 124 papers that cite themselves, and 56 links twice; here none does"
            )
        },
    )
    notes = (
        "15 papers are in the graph, but have neither words nor field in the published files; they have zeros and "
        "field 0 here and are in no part of the split.",
    )


@DATASETS.register("pubmed", title="PubMed")
class PubMed(Citations):
    """PubMed: 19,717 papers on diabetes in three fields, and which of them cite each other."""

    name = "pubmed"
    classes = 3
    task = NodeClassification(classes, metric="accuracy")
    sources = sources("pubmed")
    published = Statistics(
        graphs=1,
        nodes=19_717,
        edges=44_338,
        classes=classes,
        features=500,
        split=(60, VAL, TEST),
        undirected=True,
        differences={
            "edges": Difference(
                44_324, "the published number counts self-citations and some links twice; PyG counts 44,324 as well"
            )
        },
    )
    notes = (
        "No SHA-256 of these files is on record here; the first one seen on a machine is kept and must be met from "
        "then on.",
    )
