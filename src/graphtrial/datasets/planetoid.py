"""Cora, CiteSeer and PubMed: citation graphs."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from graphtrial.datasets.base import DATASETS, DatasetSpec, Source, Split
from graphtrial.datasets.planetoid_files import HASHES, PARTS, PUBLIC_HASHES
from graphtrial.datasets.planetoid_reader import read_npz, read_planetoid, read_test_index, to_dense
from graphtrial.datasets.statistics import Difference, Statistics
from graphtrial.graphs import Column, GraphSet
from graphtrial.io.pickles.reader import load
from graphtrial.io.sources import GIBIBYTE, File
from graphtrial.tasks import NodeClassification

Array = npt.NDArray[Any]
_PLANETOID = "https://raw.githubusercontent.com/kimiyoung/planetoid/master/data"
_NPZ = "https://raw.githubusercontent.com/shchur/gnn-benchmark/master/data/npz"
PER_CLASS, VAL, TEST = 20, 500, 1000
_SECOND_HAND = (
    "The same papers from the collection of Shchur et al. (2018), in another order and without the public split: a "
    "split of the same sizes is drawn instead, so that scores do not compare one by one with those on the public one."
)


def sources(name: str) -> tuple[Source, Source]:
    """Return the sources of a citation graph: planetoid pickles and npz arrays."""
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
    """Base class of citation graphs: classify papers by bag-of-words features and citations.

    One undirected graph, coalesced, without self-loops; x: word features as published (not row-normalised); y: the
    field of a paper. One split: 20 papers per class / 500 / 1,000; other papers are unused.
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
        edges = to_undirected(ends, nodes)
        columns = {
            "x": Column(x, "node", "words of the paper"),
            "y": Column(y.astype(np.uint8), "node", "field of the paper", types=self.classes),
        }
        return GraphSet.build([nodes], [edges.shape[1]], edges, columns)

    def split(self, graphs: GraphSet, source: Source, raw: Mapping[str, Path]) -> Sequence[Split]:
        if source.name == "npz":
            return [random_split(self.name, np.asarray(graphs.column("y").values))]
        train = len(to_dense(load(raw[f"planetoid/ind.{self.name}.y"])))
        test = read_test_index(raw[f"planetoid/ind.{self.name}.test.index"])
        return [Split(np.arange(train), np.arange(train, train + VAL), np.sort(test))]


def to_undirected(ends: Array, nodes: int) -> Array:
    """Return the coalesced undirected edges [2, edges] without self-loops."""
    source, target = np.concatenate([ends, ends[::-1]], axis=1).astype(np.int64)
    keys = np.unique((source * nodes + target)[source != target])
    return np.stack([keys // nodes, keys % nodes])


def random_split(name: str, fields: Array) -> Split:
    """Return a split of the public sizes, pseudo-random by a SHA-256 of the graph's name and paper index."""
    keys = [hashlib.sha256(f"{name}/{paper}".encode()).digest() for paper in range(len(fields))]
    order = np.array(sorted(range(len(fields)), key=keys.__getitem__))
    train = np.sort(np.concatenate([order[fields[order] == field][:PER_CLASS] for field in np.unique(fields)]))
    rest = order[~np.isin(order, train)]
    return Split(train, np.sort(rest[:VAL]), np.sort(rest[VAL : VAL + TEST]))


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
        "field 0 here and are in no split.",
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
    notes = ("No SHA-256 of these files is on record here; that of the first download is pinned (trust on first use).",)
