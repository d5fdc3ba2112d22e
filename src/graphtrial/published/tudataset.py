"""Which rows of "TUDataset" (arXiv:2007.08663) a trial may be compared with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphtrial.core.errors import UnknownNameError
from graphtrial.datasets import DATASETS
from graphtrial.datasets.base import published_name
from graphtrial.datasets.tu.catalog import CATALOG
from graphtrial.datasets.tu.collection import TUDataset
from graphtrial.published.results import PublishedRow, find

PAPER = "tudataset"
NETWORKS = {"gin-eps": ("GIN-eps", "GINE-eps"), "gine": ("GINE-eps",), "gine-molecules": ("GINE-eps",)}
"""What the paper calls our networks; table 2 says GINE where sets without edge labels had GIN."""
JUMPING = ("gin-eps", "gine")
AS_PUBLISHED = "-as-published"


def find_tudataset(dataset: str, model: str, settings: Mapping[str, Any], *, trained: bool) -> PublishedRow | None:
    """Return the row of a kernel or a network, or nothing.

    A kernel with the published faults has the row of the kernel. Networks saw labels or degrees and no attributes, so
    that trials on other features have no row; kernels see labels whatever the features are.
    """
    if trained and _features(dataset) not in ("labels", "degree"):
        return None
    name = published_name(dataset).partition("+")[0].removeprefix("tu/")
    names = NETWORKS.get(model, (model.removesuffix(AS_PUBLISHED),))
    suffix = "-JK" if model in JUMPING and settings.get("jumping") else ""
    layers = settings.get("layers")
    rows = (find(name, f"{title}{suffix}", layers=layers, paper=PAPER) for title in names)
    return next((row for row in rows if row is not None), None)


def _features(dataset: str) -> str:
    """Return what networks see of the nodes of a set of the collection; of any other what its paper lets them see."""
    if ":" in dataset:  # module:attribute, which a store must not make us import
        return "labels"
    try:
        kind = DATASETS.get(dataset)
    except UnknownNameError:  # of a file of the user's own that is not loaded now
        return "labels"
    if not issubclass(kind, TUDataset) or kind.features:
        return getattr(kind, "features", "labels")
    entry = CATALOG.get(kind.collection_name)
    return "attributes" if entry is not None and entry.node_attributes else "labels"
