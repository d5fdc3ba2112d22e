"""Models, settings and datasets of the rows of "TUDataset" (arXiv:2007.08663)."""

from __future__ import annotations

from typing import Any

from graphtrial.datasets import DATASETS
from graphtrial.datasets.base import published_name
from graphtrial.datasets.tu.catalog import CATALOG
from graphtrial.datasets.tu.collection import TUDataset
from graphtrial.datasets.tu.features import FEATURES
from tools.normalize_published.identity import Identity, Model, own_settings
from tools.normalize_published.raw import PrintedRow, plain

KERNELS = {"WL-1": "wl", "WL-OA": "wl-oa", "GR": "graphlet", "SP": "shortest-path"}
AS_PUBLISHED = "-as-published"
"""A kernel with the published faults has the row of the kernel."""
NETWORKS: dict[tuple[int, str], tuple[Model, ...]] = {
    (1, "GIN-eps"): (("gin-eps", {"jumping": False}),),
    (1, "GIN-eps-JK"): (("gin-eps", {"jumping": True}),),
    # Table 2 prints GINE also for GIN on datasets without edge labels.
    (2, "GINE-eps"): (("gine", {"jumping": False}), ("gin-eps", {"jumping": False})),
    (2, "GINE-eps-JK"): (("gine", {"jumping": True}), ("gin-eps", {"jumping": True})),
    (3, "MPNN"): (("mpnn", {}),),
}
MOLECULES = {"ZINC-full": True, "ALCHEMY": False, "QM9": False}
"""Whether the GINE of table 3 has jumping knowledge, by dataset: the released scripts differ."""
LABELS = ("labels", "degree")
"""Node features of the networks; kernels always use labels."""


def identify(row: PrintedRow) -> Identity:
    """Return the datasets and the kernel or network of a printed row."""
    if row.model in KERNELS:
        kernel = KERNELS[row.model]
        names: tuple[Model, ...] = ((kernel, {}), (kernel + AS_PUBLISHED, {}))
        return Identity(_datasets(row, trained=False), names, source="the paper's text")
    models = NETWORKS.get((row.table, row.model)) or (("gine-molecules", {"jumping": MOLECULES[row.dataset]}),)
    own = tuple((name, own_settings(name, settings)) for name, settings in models)
    return Identity(_datasets(row, trained=True), own, source="the released scripts")


def _datasets(row: PrintedRow, *, trained: bool) -> tuple[str, ...]:
    bases = [name for name in DATASETS.names() if _same(name, row.dataset)]
    names = bases + [
        f"{name}+{features}" for name in bases for features in FEATURES if f"{name}+{features}" in DATASETS
    ]
    return tuple(sorted(name for name in names if not trained or _features(name) in LABELS))


def _same(name: str, printed: str) -> bool:
    return plain(published_name(name).removeprefix("tu/")) == plain(printed)


def _features(name: str) -> Any:
    """Return the node features of a set of the collection; of any other dataset those of its paper, its labels."""
    kind = DATASETS.get(name)
    if not issubclass(kind, TUDataset) or kind.features:
        return getattr(kind, "features", "labels")
    entry = CATALOG.get(kind.collection_name)
    return "attributes" if entry is not None and entry.node_attributes else "labels"
