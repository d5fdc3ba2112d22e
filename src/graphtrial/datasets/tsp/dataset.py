"""TSP: classify the edges of the optimal tour."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import CorruptFileError
from graphtrial.core.files import read_json
from graphtrial.core.progress import track
from graphtrial.core.temporary import temporary_folder
from graphtrial.datasets.base import DATASETS, PARTS, DatasetSpec, Source, Split
from graphtrial.datasets.splits import consecutive_split
from graphtrial.datasets.statistics import Statistics
from graphtrial.datasets.tsp.generate import build_graphs, estimated_hours, solved_graphs
from graphtrial.datasets.tsp.graphs import tour_graphs
from graphtrial.datasets.tsp.instances import InstanceConfig, Solved
from graphtrial.datasets.tsp.text import read_tours
from graphtrial.graphs import GraphSet
from graphtrial.io.archive import unpack
from graphtrial.io.sources import GIBIBYTE, File
from graphtrial.tasks import EdgeClassification
from graphtrial.tsp import unit

Array = npt.NDArray[Any]

PAPER = "Dwivedi et al. (arXiv:2003.00982); Joshi et al. 2019 (arXiv:1906.01227)"
ARCHIVE = File("TSP/TSP.zip", "https://www.dropbox.com/s/1wf6zn5nq7qjg0e/TSP.zip?dl=1", licence="MIT")
SMALL = InstanceConfig(low=50, high=100, seed=1)


class TourSpec(DatasetSpec):
    """Base class of TSP datasets."""

    domain = "combinatorial optimisation"
    task = EdgeClassification(metric="f1-binary")
    paper = PAPER
    sizes: tuple[int, int, int]

    def split(self, graphs: GraphSet, source: Source, raw: Mapping[str, Path]) -> Sequence[Split]:
        return [consecutive_split(self.sizes)]


@DATASETS.register("tsp", title="TSP")
class TSP(TourSpec):
    r"""TSP: classify the edges of the 25-NN graph of 50 to 500 points as part of the optimal tour or not.

    Points are uniform in the unit square; every point has a directed edge to each of its 25 nearest neighbours.

    10,000 / 1,000 / 1,000 graphs of about 276 nodes and 6,894 directed edges; x: 2 coordinates; edge_attr: the
    distance; y: 1 for an edge of the tour, in either direction; of each graph length, bound, proved (see `generate`).
    """

    name = "tsp"
    licence = "generated here; TSP.zip of benchmarking-gnns, MIT"
    config = InstanceConfig(low=50, high=500, seed=0)
    sizes = (10_000, 1_000, 1_000)
    published = Statistics(graphs=12_000, nodes=275.76, edges=6894.04, classes=2, split=(10_000, 1_000, 1_000))
    sources = (
        Source("TSP.zip", "The points and tours of the benchmark itself, from which the graphs are built.", (ARCHIVE,)),
        Source(
            "generated",
            "Generated locally: other points of the same distribution, with tours that are proved to be the "
            "shortest by branch and cut, in Euclidean distances rounded to a millionth of the side. This takes days of "
            "computing (a warning says how many hours); tours are cached as they are solved, and an interrupted "
            "preparation is resumed.",
            (),
            exact=False,
            deviation="other points of the published distribution",
            libraries=("numpy", "highspy"),
            hours=estimated_hours(config, sum(sizes)),
        ),
    )
    large = True
    notes = (
        "No SHA-256 of TSP.zip was ever published. That of the first download is pinned (trust on first use). It "
        "is read where it is on this machine, as TSP/TSP.zip below GRAPHTRIAL_MIRROR; otherwise tours are computed. "
        " The published TSP.pkl holds objects of the DGL library, which are not read.",
        "The published tours were computed by Concorde in TSPLIB's GEO metric, in which the square is about 185 km "
        "wide and distances are whole kilometres: they are the shortest up to half a percent of the side for each "
        "edge, and not unique. The generated ones are the shortest Euclidean tours.",
        "Validation and test are as in the files. The reference writes its pickle as train, val, test and reads it as "
        "train, test, val, so that its test scores are probably scores on the file's validation set.",
        "Edges of the tour that lead beyond the 25 nearest neighbours are lost, as in the reference.",
    )

    def parse(self, source: Source, raw: Mapping[str, Path]) -> GraphSet:
        if source.name == "generated":
            return solved_graphs(self.config, sum(self.sizes))
        members = {part: f"TSP/tsp50-500_{part}.txt" for part in PARTS}
        with temporary_folder() as folder:
            unpacked = Path(folder) / "tsp"
            unpack(raw[ARCHIVE.name], list(members.values()), unpacked, member_bytes=GIBIBYTE, total_bytes=2 * GIBIBYTE)
            parts = zip(members.values(), self.sizes, strict=True)
            instances = chain.from_iterable(_read_exactly(unpacked / member, size) for member, size in parts)
            return tour_graphs(track(instances, "reading tours", sum(self.sizes)))


@DATASETS.register("tsp-small", title="TSP (small)")
class SmallTSP(TourSpec):
    """TSP with 50 to 100 points: a small set with proved tours that ships with the package.

    160 / 20 / 20 graphs generated like those of TSP, for quick experiments; not comparable with published results.
    """

    name = "tsp-small"
    licence = "generated here"
    protocol = "bgnn-v5/tsp"
    sizes = (160, 20, 20)
    sources = (Source("shipped", "Points generated locally; their tours, proved optimal, are shipped."),)

    def parse(self, source: Source, raw: Mapping[str, Path]) -> GraphSet:
        return build_graphs(SMALL, small_tours())


def small_tours() -> Solved:
    """Load the shipped tours of `SMALL`, all proved optimal."""
    entries = read_json(Path(str(files("graphtrial.datasets.tsp") / "small.json")))
    tours = [np.array(entry["tour"], np.int64) for entry in entries]
    length = np.array([entry["length"] for entry in entries]) * unit(SMALL.metric)
    proved = np.ones(len(tours), bool)
    return Solved(np.array([len(tour) for tour in tours]), np.concatenate(tours), length, length, proved)


def _read_exactly(path: Path, count: int) -> Iterator[tuple[Array, Array]]:
    read = 0
    for instance in read_tours(path, count):
        read += 1
        yield instance
    if read < count:
        raise CorruptFileError(f"{path.name} holds {read} of {count} instances; it is not the published file")
