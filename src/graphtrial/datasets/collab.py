"""OGBL-COLLAB: link prediction in a collaboration network."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import CorruptFileError
from graphtrial.core.temporary import temporary_folder
from graphtrial.datasets.base import DATASETS, DatasetSpec, Source, Split
from graphtrial.datasets.generators import collab as generator
from graphtrial.datasets.statistics import Statistics
from graphtrial.graphs import Column, GraphSet
from graphtrial.io.archive import unpack
from graphtrial.io.pickles.reader import load_torch
from graphtrial.io.sources import GIBIBYTE, File
from graphtrial.io.text_tables import read_integers, read_numbers
from graphtrial.tasks import LinkPrediction

Array = npt.NDArray[Any]
ARCHIVE = File(
    "OGB/collab.zip",
    "https://snap.stanford.edu/ogb/data/linkproppred/collab.zip",
    licence="ODC-BY",
    limit_bytes=1 << 30,
)
RAW = ("edge", "edge_weight", "edge_year", "node-feat", "num-node-list")
PARTS = {"train": "train", "val": "valid", "test": "test"}
STAND_IN = "ogbl-collab-standin"


class Collaborations(DatasetSpec):
    """Base class of OGBL-COLLAB: an undirected multigraph of authors with one edge per year.

    x: mean word vector of an author's papers, 128 features; edge_attr: number of papers and year, unscaled; pairs, y:
    positive pairs of each split, and negative pairs of val and test.
    """

    domain = "academic network"
    task = LinkPrediction(metric="hits@50")
    licence = "ODC-BY"
    paper = "Hu et al. 2020 (arXiv:2005.00687)"
    protocol = "bgnn-v5/ogbl-collab"
    split_level = "pair"
    all_negatives: ClassVar[bool] = True
    """Rank positives against all negatives, not only against as many as there are positives."""

    def split(self, graphs: GraphSet, source: Source, raw: Mapping[str, Path]) -> Sequence[Split]:
        part = np.asarray(graphs.column("part").values)
        return [Split(*(np.flatnonzero(part == number) for number in range(3)))]


@DATASETS.register("ogbl-collab", title="OGBL-COLLAB")
class OGBLCollab(Collaborations):
    """OGBL-COLLAB: predict collaborations of 235,868 authors from those until 2017.

    Train: links until 2017, val: 2018, test: 2019, each ranked against 100,000 negative pairs; Hits@50.
    """

    name = "ogbl-collab"
    large = True
    published = Statistics(graphs=1, nodes=235_868, edges=2_358_104, features=128, split=(1_179_052, 160_084, 146_329))
    sources = (Source("collab.zip", "The files of the Open Graph Benchmark.", (ARCHIVE,)),)
    notes = (
        "No SHA-256 of collab.zip was published. That of the first download is pinned (trust on first use).",
        "Links of the validation set are not added to the graph when the test set is scored.",
    )

    def parse(self, source: Source, raw: Mapping[str, Path]) -> GraphSet:
        members = [f"collab/raw/{name}.csv.gz" for name in RAW]
        members += [f"collab/split/time/{part}.pt" for part in PARTS.values()]
        with temporary_folder() as temporary:
            folder = Path(temporary) / "ogb"
            unpack(raw[ARCHIVE.name], members, folder, member_bytes=GIBIBYTE, total_bytes=2 * GIBIBYTE)
            return read_folder(folder / "collab", self.all_negatives)


@DATASETS.register("ogbl-collab-as-published", title="OGBL-COLLAB (as published)")
class OGBLCollabAsPublished(OGBLCollab):
    """OGBL-COLLAB as Benchmarking GNNs scores it, with as many negatives as positives.

    With fewer negatives Hits@50 is higher than by the rule of the Open Graph Benchmark.
    """

    name = "ogbl-collab-as-published"
    all_negatives = False
    published = Statistics(graphs=1, nodes=235_868, edges=2_358_104, features=128, split=(1_179_052, 120_168, 92_658))


class StandIn(Collaborations):
    """A stand-in for OGBL-COLLAB: a synthetic network of authors of the same shape."""

    licence = "generated here"
    sources = (
        Source(
            "generated",
            "A stand-in for machines without collab.zip: a synthetic network with authors, links and pairs in its "
            "proportions. Scores on it do not compare with published ones.",
            exact=False,
            deviation="a synthetic network in place of OGBL-COLLAB",
            comparable=False,
        ),
    )
    notes = ("Not OGBL-COLLAB: a synthetic network of the same shape, for experiments.",)
    authors: ClassVar[int]
    seed: ClassVar[int] = 0

    def parse(self, source: Source, raw: Mapping[str, Path]) -> GraphSet:
        network = generator.network(self.authors, self.seed)
        links, negatives = network.links, network.negatives
        return graph_of(network.x, links["train"], network.weight_and_year, links, negatives, True)


@cache
def stand_in(authors: int) -> type[StandIn]:
    """Return the class of the stand-in with `authors` authors; cached."""
    whole = authors == generator.AUTHORS
    members = {
        "__doc__": f"A stand-in for OGBL-COLLAB: a synthetic network of {authors:,} authors of the same shape.",
        "__module__": __name__,
        "name": STAND_IN if whole else f"{STAND_IN}-{authors}",
        "authors": authors,
        "large": authors > 50_000,
        "published": OGBLCollab.published if whole else None,
    }
    return type(f"OGBLCollabStandIn{authors}", (StandIn,), members)


def find(name: str) -> type[StandIn] | None:
    """Resolve a name such as `ogbl-collab-standin-5000`, the stand-in of 5,000 authors."""
    parts = re.fullmatch(rf"{STAND_IN}-(\d{{3,7}})", name, re.ASCII)
    return stand_in(int(parts[1])) if parts and str(int(parts[1])) == parts[1] else None


def title_of(name: str) -> str | None:
    """Return the display name of a stand-in, None for other datasets."""
    return f"OGBL-COLLAB stand-in, {int(name.rpartition('-')[2]):,} authors" if find(name) else None


def read_folder(folder: Path, all_negatives: bool) -> GraphSet:
    """Read the files of the Open Graph Benchmark: text tables, and splits in torch's format."""
    tables = {name: folder / "raw" / f"{name}.csv.gz" for name in RAW}
    x = read_numbers(tables["node-feat"])
    ends = _pairs_of(read_integers(tables["edge"]), len(x), "edge.csv.gz")
    weight, year = (read_numbers(tables[f"edge_{name}"]) for name in ("weight", "year"))
    nodes = int(read_integers(tables["num-node-list"])[0, 0])
    if nodes != len(x) or not len(ends) == len(weight) == len(year) or weight.shape[1] != 1 or year.shape[1] != 1:
        raise CorruptFileError(
            f"collab.zip has features of {len(x)} of {nodes} authors, weights of {len(weight)} and years of "
            f"{len(year)} of {len(ends)} links"
        )
    links, negatives = {}, {}
    for part, name in PARTS.items():
        entries = load_torch(folder / "split" / "time" / f"{name}.pt")
        links[part] = _pairs_of(_entry(entries, "edge", name), nodes, f"{name}.pt")
        if part != "train":
            negatives[part] = _pairs_of(_entry(entries, "edge_neg", name), nodes, f"{name}.pt")
    return graph_of(x, ends, np.concatenate([weight, year], axis=1), links, negatives, all_negatives)


def graph_of(
    x: Array,
    ends: Array,
    weight_and_year: Array,
    links: Mapping[str, Array],
    negatives: Mapping[str, Array],
    all_negatives: bool,
) -> GraphSet:
    """Build the undirected multigraph and the pairs of the three splits, positives before negatives."""
    pairs, linked, part = [], [], []
    for number, name in enumerate(PARTS):
        for value, rows in ((1, links[name]), (0, negatives.get(name, np.zeros((0, 2), np.int64)))):
            chosen = rows if value or all_negatives else rows[: len(links[name])]
            pairs.append(chosen)
            linked.append(np.full(len(chosen), value, np.uint8))
            part.append(np.full(len(chosen), number, np.uint8))
    columns = {
        "x": Column(x.astype(np.float32), "node", "what the author writes about"),
        "edge_attr": Column(np.concatenate([weight_and_year] * 2).astype(np.float32), "edge", "papers and year"),
        "pairs": Column(np.concatenate(pairs).astype(np.int32), "pair", "two authors"),
        "y": Column(np.concatenate(linked), "pair", "whether they write together", types=2),
        "part": Column(np.concatenate(part), "pair", "train, val or test", types=3),
    }
    edge_index = np.concatenate([ends, ends[:, ::-1]]).T
    return GraphSet.build([len(x)], [edge_index.shape[1]], edge_index, columns)


def _entry(entries: Any, key: str, name: str) -> Array:
    values = entries.get(key) if isinstance(entries, dict) else None
    if not isinstance(values, np.ndarray):
        raise CorruptFileError(f"{name}.pt holds no '{key}'; it is not the split of OGBL-COLLAB")
    return values


def _pairs_of(values: Array, nodes: int, name: str) -> Array:
    if values.ndim != 2 or values.shape[1] != 2 or values.dtype.kind not in "iu" or not len(values):
        raise CorruptFileError(f"{name} holds {values.dtype} of shape {values.shape} instead of pairs of authors")
    if values.min() < 0 or values.max() >= nodes:
        raise CorruptFileError(f"{name} names an author outside 0 to {nodes - 1}")
    return values.astype(np.int64)


DATASETS.add(STAND_IN, stand_in(generator.AUTHORS), title="OGBL-COLLAB stand-in")
DATASETS.add(f"{STAND_IN}-2000", stand_in(2000), title="OGBL-COLLAB stand-in, 2,000 authors")
DATASETS.add_resolver(find, title=title_of)
