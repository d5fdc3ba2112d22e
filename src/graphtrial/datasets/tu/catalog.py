"""Catalog of the TU collection with published statistics."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from importlib.resources import files

from graphtrial.datasets.statistics import Difference, Statistics

AMBIGUOUS = frozenset({"qm9", "collab"})
"""Names that collide with other datasets; they require the prefix."""

VERIFIED = frozenset({"DD", "REDDIT-BINARY"})
"""Sets whose statistics were verified although the hash of the archive is unknown."""

FEATURES = {"ENZYMES": 18, "DD": 89, "PROTEINS_full": 29}
"""Number of node features in Benchmarking GNNs (table 10 of its first version)."""

DIFFERENCES = {
    "DHFR": {"graphs": Difference(756, "the collection's table repeats the 467 of COX2; the file has 756 molecules")},
    "Fingerprint": {
        "classes": Difference(
            15,
            "the collection's table counts the 4 main patterns of Riesen and Bunke 2008; the file has 15, most "
            "of them mixtures (github.com/zhaohan-xi/GraphBackdoor/issues/5 found as many)",
        )
    },
    "Letter-med": {
        "edges": Difference(
            3.2058, "the collection's table repeats the 4.50 of Letter-high; the file has 7,213 links in 2,250 graphs"
        )
    },
}


@dataclass(frozen=True)
class Entry:
    """Row of the table of the collection; `targets` is the number of regression targets."""

    name: str
    domain: str
    graphs: int
    classes: int | None
    targets: int | None
    nodes: float
    edges: float
    node_labels: str
    edge_labels: str
    node_attributes: int | None
    edge_attributes: str
    sha256: str | None
    size: int | None
    references: str

    @property
    def published(self) -> Statistics:
        """Published statistics; binding if they were verified on the archive."""
        return Statistics(
            graphs=self.graphs,
            nodes=self.nodes,
            edges=self.edges,
            classes=self.classes,
            features=FEATURES.get(self.name),
            undirected=True,
            differences=DIFFERENCES.get(self.name, {}),
            binding=self.sha256 is not None or self.name in VERIFIED,
        )


def _read() -> dict[str, Entry]:
    """Read the table of https://chrsmrrs.github.io/datasets/docs/datasets (its repository, commit 0397414)."""
    text = files("graphtrial.datasets.tu").joinpath("catalog.csv").read_text(encoding="utf-8")
    entries = {}
    for row in csv.DictReader(io.StringIO(text)):
        entries[row["name"]] = Entry(
            name=row["name"],
            domain=row["domain"],
            graphs=int(row["graphs"]),
            classes=_int_or_none(row["classes"]),
            targets=_int_or_none(row["targets"]),
            nodes=float(row["nodes"]),
            edges=float(row["edges"]),
            node_labels=row["node_labels"],
            edge_labels=row["edge_labels"],
            node_attributes=_int_or_none(row["node_attributes"]),
            edge_attributes=row["edge_attributes"],
            sha256=row["sha256"] or None,
            size=_int_or_none(row["size"]),
            references=row["references"],
        )
    return entries


def _int_or_none(text: str) -> int | None:
    return int(text) if text else None


CATALOG: dict[str, Entry] = _read()
"""Entries by their name in the collection."""
