"""Wiki-CS: node classification in a graph of Wikipedia articles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from graphtrial.core.errors import CorruptFileError
from graphtrial.core.files import read_json
from graphtrial.datasets.base import DATASETS, DatasetSpec, Source, Split
from graphtrial.datasets.generators import wikics as generator
from graphtrial.datasets.generators.draws import Draws
from graphtrial.datasets.statistics import Difference, Statistics
from graphtrial.graphs import Column, GraphSet
from graphtrial.io.sources import File
from graphtrial.tasks import NodeClassification

Array = npt.NDArray[Any]
Validation = Literal["merged", "val", "stopping"]
CLASSES = len(generator.CLASSES)
SPLITS = 20
DATA = File(
    "WikiCS/data.json",
    "https://raw.githubusercontent.com/pmernyei/wiki-cs-dataset/master/dataset/data.json",
    licence="MIT",
    limit_bytes=1 << 29,
)
_NO_HASH = ("No SHA-256 of data.json was ever published. That of the first download is pinned (trust on first use).",)
_MULTIGRAPH = Difference(
    594_220,
    "the reference adds the reverse of each of the 297,110 directed links and keeps what is then there twice; the "
    "published number counts linked pairs",
)


class WikiCSBase(DatasetSpec):
    """Base class of the Wiki-CS datasets."""

    domain = "Wikipedia"
    task = NodeClassification(CLASSES, metric="accuracy")
    licence = "MIT (wiki-cs-dataset)"
    paper = "Mernyei and Cangea 2020 (arXiv:2007.02901)"
    sources = (Source("data.json", "The published dataset.", (DATA,)),)
    notes = _NO_HASH
    protocol = "bgnn-v5/wikics"
    split_level = "node"
    multigraph: ClassVar[bool] = False
    """Do not coalesce the edges of mutual links (multigraph)."""
    validation: ClassVar[Validation] = "merged"

    def parse(self, source: Source, raw: Mapping[str, Path]) -> GraphSet:
        x, y, ends, _ = read_data(raw[DATA.name])
        return graph_of(Column(x, "node", "mean word vector of the article"), y, ends, self.multigraph)

    def split(self, graphs: GraphSet, source: Source, raw: Mapping[str, Path]) -> Sequence[Split]:
        *_, masks = read_data(raw[DATA.name])
        return splits_of(masks, self.validation)


@DATASETS.register("wikics", title="Wiki-CS")
class WikiCS(WikiCSBase):
    """Wiki-CS: classify 11,701 articles on computer science into ten fields by words and links.

    One graph, 216,123 linked pairs, each both ways, 520 of them articles that link to themselves (431,726 directed
    edges); x: the mean of 300-dimensional GloVe vectors; y: the field. 20 splits with a common test set: 5 % train,
    45 % val (the published validation and early-stopping sets merged), 50 % test.
    """

    name = "wikics"
    published = Statistics(graphs=1, nodes=11_701, edges=216_123, classes=CLASSES, features=300, undirected=True)


@DATASETS.register("wikics-stopping", title="Wiki-CS (stopping)")
class WikiCSStopping(WikiCSBase):
    """Wiki-CS with the splits of its own paper: the graph of `wikics`, validated on the early-stopping nodes only.

    The published validation nodes, for hyper-parameter selection, are unused.
    """

    name = "wikics-stopping"
    published = WikiCS.published
    published_as = "wikics"
    protocol = "wikics/nodes"
    splits_complete = False
    validation = "stopping"


@DATASETS.register("wikics-as-published", title="Wiki-CS (as published)")
class WikiCSAsPublished(WikiCSBase):
    """Wiki-CS as in the code of Benchmarking GNNs: 594,220 edges, mutual links twice, early-stopping set unused."""

    name = "wikics-as-published"
    published = Statistics(
        graphs=1, nodes=11_701, edges=216_123, classes=CLASSES, features=300, differences={"edges": _MULTIGRAPH}
    )
    splits_complete = False
    multigraph = True
    validation = "val"


def read_data(path: Path) -> tuple[Array, Array, Array, dict[str, Array]]:
    """Return features [nodes, 300], classes [nodes], directed links [2, links] and masks of a Wiki-CS data file."""
    data = read_json(path)
    try:
        x = np.array(data["features"], np.float32)
        y = np.array(data["labels"])
        nodes = len(y)
        counts = [len(targets) for targets in data["links"]]
        targets = np.array([target for targets in data["links"] for target in targets])
        ends = np.stack([np.repeat(np.arange(len(counts)), counts), targets])
        masks = {name: np.array(data[f"{name}_masks"], bool) for name in ("train", "val", "stopping")}
        masks["test"] = np.array(data["test_mask"], bool)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise CorruptFileError(f"{path.name} is not a Wiki-CS dataset ({error!r:.100})") from error
    whole = y.dtype.kind == targets.dtype.kind == "i"
    if not whole or x.ndim != 2 or len(x) != nodes or len(counts) != nodes or not len(targets):
        raise CorruptFileError(f"{path.name} has {len(x)} features, {nodes} labels and links of {len(counts)} articles")
    if y.min() < 0 or y.max() >= CLASSES or targets.min() < 0 or targets.max() >= nodes:
        raise CorruptFileError(f"{path.name} has a label outside 0 to {CLASSES - 1} or a link outside 0 to {nodes - 1}")
    for name, mask in masks.items():
        if mask.shape[-1] != nodes or mask.ndim != (1 if name == "test" else 2) or len(mask) == 0:
            raise CorruptFileError(f"{path.name} has a {name} mask of shape {mask.shape} for {nodes} articles")
    return x, y, ends, masks


def graph_of(x: Column, y: Array, ends: Array, multigraph: bool, classes: int = CLASSES) -> GraphSet:
    """Build the graph with both directions of every link, coalesced unless `multigraph`."""
    nodes = len(y)
    source, target = np.concatenate([ends, ends[::-1]], axis=1).astype(np.int64)
    if not multigraph:
        keys = np.unique(source * nodes + target)
        source, target = keys // nodes, keys % nodes
    field = Column(y.astype(np.min_scalar_type(classes - 1)), "node", "field of the article", types=classes)
    return GraphSet.build([nodes], [len(source)], np.stack([source, target]), {"x": x, "y": field})


def splits_of(masks: Mapping[str, Array], validation: Validation) -> list[Split]:
    """Return one split for each pair of masks, with the common test mask."""
    chosen = {"merged": masks["val"] | masks["stopping"], "val": masks["val"], "stopping": masks["stopping"]}
    test = np.flatnonzero(masks["test"])
    pairs = zip(masks["train"], chosen[validation], strict=True)
    return [Split(np.flatnonzero(train), np.flatnonzero(val), test) for train, val in pairs]


class StandIn(WikiCSBase):
    """Base class of the stand-ins."""

    licence = "generated here; class sizes and links from wiki-cs-dataset, MIT"
    sources = (
        Source(
            "generated",
            "A stand-in for machines without data.json: class sizes and links between classes are the published ones, "
            "which articles link and what they say is random. Scores on it do not compare with published ones.",
            deviation="a synthetic graph in place of Wiki-CS",
            comparable=False,
        ),
    )
    notes = (
        "Not Wiki-CS: a synthetic graph of the same shape, for experiments. Linked articles are drawn "
        "uniformly from their classes, so that no article has very many links, as some of Wikipedia have.",
    )
    seed: ClassVar[int] = 0

    def parse(self, source: Source, raw: Mapping[str, Path]) -> GraphSet:
        y = generator.labels(self.seed)
        x = Column(generator.features(y, self.seed), "node", "random around a mean of the class")
        return graph_of(x, y, generator.links(y, self.seed), self.multigraph)

    def split(self, graphs: GraphSet, source: Source, raw: Mapping[str, Path]) -> Sequence[Split]:
        return splits_of(random_masks(np.asarray(graphs.column("y").values), self.seed), self.validation)


@DATASETS.register("wikics-standin", title="Wiki-CS stand-in")
class WikiCSStandIn(StandIn):
    """A stand-in for Wiki-CS: a synthetic graph with its class sizes, its links between classes and its splits.

    11,701 nodes, 216,123 linked pairs, 520 of them self-links; x: 300 numbers, nearly normal around a mean of the
    class; y: the class; 20 splits of 5 % / 45 % / 50 % of each class.
    """

    name = "wikics-standin"
    published = WikiCS.published


@DATASETS.register("wikics-standin-stopping", title="Wiki-CS stand-in (stopping)")
class WikiCSStandInStopping(StandIn):
    """A stand-in for `wikics-stopping`: the synthetic graph of `wikics-standin`, val for early stopping alone."""

    name = "wikics-standin-stopping"
    published = WikiCS.published
    protocol = "wikics/nodes"
    splits_complete = False
    validation = "stopping"


@DATASETS.register("wikics-standin-as-published", title="Wiki-CS stand-in (as published)")
class WikiCSStandInAsPublished(StandIn):
    """A stand-in for `wikics-as-published`: the synthetic graph of `wikics-standin` with 594,220 edges."""

    name = "wikics-standin-as-published"
    published = WikiCSAsPublished.published
    splits_complete = False
    multigraph = True
    validation = "val"


def random_masks(classes: Array, seed: int) -> dict[str, Array]:
    """Sample masks like the published ones: 50 % test; 20 times 5 % train, 22.5 % val, 22.5 % early stopping."""
    nodes = len(classes)
    masks = {name: np.zeros((SPLITS, nodes), bool) for name in ("train", "val", "stopping")} | {
        "test": np.zeros(nodes, bool)
    }
    for number in range(int(classes.max()) + 1):
        members = np.flatnonzero(classes == number)
        count = len(members)
        draws = Draws(seed, 100 + number)
        order = members[draws.permutation(count)]
        test, rest = np.split(order, [round(0.5 * count)])
        masks["test"][test] = True
        for split in range(SPLITS):
            mixed = rest[draws.permutation(len(rest))]
            train, val, stopping = np.split(mixed, [round(0.05 * count), round(0.275 * count)])
            for name, part in (("train", train), ("val", val), ("stopping", stopping)):
                masks[name][split, part] = True
    return masks
