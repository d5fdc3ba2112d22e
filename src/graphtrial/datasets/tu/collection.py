"""Dataset classes of the TU collection, built on demand."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path, PurePosixPath
from typing import ClassVar

import numpy as np

from graphtrial.core.temporary import temporary_folder
from graphtrial.datasets.base import DATASETS, DatasetSpec, Source, Split
from graphtrial.datasets.statistics import Statistics
from graphtrial.datasets.tu.catalog import AMBIGUOUS, CATALOG, Entry
from graphtrial.datasets.tu.features import FEATURES, with_features
from graphtrial.datasets.tu.folds import parse_folds, published_folds, seeded_folds
from graphtrial.datasets.tu.reader import TABLES, read_folder
from graphtrial.graphs import GraphSet
from graphtrial.io.archive import unpack_chosen
from graphtrial.io.sources import GIBIBYTE, File
from graphtrial.tasks import GraphClassification, GraphRegression, Task

SITE = "https://www.chrsmrrs.com/graphkerneldatasets"
PREFIX = "tu/"
PROTOCOLS = {
    "ENZYMES": "bgnn-v5/enzymes",
    "DD": "bgnn-v5/dd",
    "PROTEINS": "bgnn-v5/proteins",
    "PROTEINS_full": "bgnn-v5/proteins",  # the data that the benchmark calls PROTEINS
}
LARGE = 6_000_000  # nodes and edges
SMALLEST_LIMIT, PACKING = 1 << 26, 64  # digits compress 5 to 10 times; 64 times indicates a zip bomb
PAPER = "Morris et al. 2020 (arXiv:2007.08663)"
ZINC_PARTS = (220_011, 225_011, 249_456)  # training, then test, then validation graphs of ZINC_full


class TUDataset(DatasetSpec):
    """Dataset of the TU collection.

    x: node attributes, else node labels in one-hot form, else degrees; edge_attr: edge attributes, else edge labels in
    one-hot form; `node_label` and `edge_label`: the labels as categories; y: the class, or targets of a regression.
    """

    collection_name: ClassVar[str]
    features: ClassVar[str] = ""
    licence = "not stated by the collection"
    notes = (
        "The collection publishes no SHA-256 of its archives; where none is on record here, that of the first "
        "download is pinned (trust on first use).",
        "Edges are made undirected and coalesced, also where the file has one direction only; self-loops are "
        "left out, as PyG does, and counted in the column `self_loops`.",
        "Ten folds of 8:1:1: the published ones of ENZYMES, DD and PROTEINS, else our own, stratified and seeded.",
    )
    splits_stratified = True
    parser_version = 2

    def parse(self, source: Source, raw: Mapping[str, Path]) -> GraphSet:
        name = self.collection_name
        members = {f"{name}_{table}.txt" for table in TABLES}

        def choose(member: str) -> str | None:
            path = PurePosixPath(member.replace("\\", "/"))  # members are in AIDS//, AIDS/ or at the top
            return path.name if path.name in members and path.parts[0] != "__MACOSX" else None

        with temporary_folder() as temporary:
            folder = Path(temporary) / "tu"
            needed = [f"{name}_A.txt", f"{name}_graph_indicator.txt"]
            archive = raw[source.files[0].name]
            limit = min(8 * GIBIBYTE, SMALLEST_LIMIT + PACKING * archive.stat().st_size)
            unpack_chosen(archive, choose, folder, required=needed, member_bytes=limit, total_bytes=limit)
            return with_features(read_folder(folder, name), self.features)

    def split(self, graphs: GraphSet, source: Source, raw: Mapping[str, Path]) -> Sequence[Split]:
        name, ids = self.collection_name, np.arange(len(graphs))
        if name == "ZINC_full" and len(graphs) == ZINC_PARTS[-1]:
            train, test, _ = ZINC_PARTS
            return [Split(ids[:train], ids[test:], ids[train:test])]
        folds = published_folds(name)
        if folds and len(folds[0]) == len(graphs):
            return parse_folds(folds)
        y = graphs.column("y")
        return seeded_folds(name, np.asarray(y.values, np.int64) if y.types is not None else np.zeros_like(ids))

    def task_of(self, graphs: GraphSet) -> Task:
        y = graphs.column("y")
        return GraphRegression(targets=y.width) if y.types is None else GraphClassification(classes=y.types)


@cache
def dataset_class(collection_name: str, features: str) -> type[TUDataset]:
    """Return the dataset class of a name of the collection; cached."""
    entry = CATALOG.get(collection_name)
    archive = File(
        f"TU/{collection_name}.zip",
        f"{SITE}/{collection_name}.zip",
        entry.sha256 if entry else None,
        entry.size if entry else None,
        "not stated by the collection",
    )
    subject = f" with {features} as node features" if features else ""
    regression = entry is not None and entry.targets is not None
    members = {
        "__doc__": f"{collection_name} of the TU collection{subject}: {_subject(entry)}.",
        "__module__": __name__,
        "name": name_of(collection_name) + (f"+{features}" if features else ""),
        "collection_name": collection_name,
        "features": features,
        "domain": entry.domain if entry else "unknown",
        "task": _declared_task(entry),
        "paper": f"{entry.references}; {PAPER}" if entry else PAPER,
        "published": _published(entry, features),
        "sources": (Source("zip", "The archive of the collection.", (archive,)),),
        "protocol": PROTOCOLS.get(collection_name, "bgnn-v5/tu"),
        "splits_stratified": not regression,
        "large": entry is not None and entry.graphs * (entry.nodes + 2 * entry.edges) > LARGE,
    }
    prefix = "TU_" if collection_name.lower() in AMBIGUOUS else ""
    class_name = f"{prefix}{collection_name[0].upper()}{collection_name[1:]}{features}"
    return type(re.sub(r"\W", "_", class_name), (TUDataset,), members)


def name_of(collection_name: str) -> str:
    """Return the registered name of a set of the collection."""
    if collection_name not in CATALOG:
        return f"{PREFIX}{collection_name}"
    plain = collection_name.lower()
    return f"{PREFIX}{plain}" if plain in AMBIGUOUS else plain


def find(name: str) -> type[TUDataset] | None:
    """Resolve any spelling of a listed set or `tu/NAME`, optionally with `+features`."""
    parts = re.fullmatch(r"(tu/)?([A-Za-z0-9][\w.-]{0,80})(?:\+(\w+))?", name, re.IGNORECASE | re.ASCII)
    if parts is None:
        return None
    prefix, base, features = parts[1], parts[2], parts[3] or ""
    if features and features not in FEATURES:
        return None
    listed = _LISTED.get(base.lower())
    if listed is not None and (prefix or base.lower() not in AMBIGUOUS):
        return dataset_class(listed, features)
    return dataset_class(base, features) if prefix else None


def title_of(name: str) -> str | None:
    """Return the display name of a set of the collection, None for other datasets."""
    kind = find(name)
    if kind is None:
        return None
    marks = [*(["TU"] if kind.collection_name.lower() in AMBIGUOUS else []), *filter(None, [kind.features])]
    return kind.collection_name + (f" ({', '.join(marks)})" if marks else "")


def _published(entry: Entry | None, features: str) -> Statistics | None:
    """Return the published statistics; the number of features is known for the default features only."""
    if entry is None or not features:
        return entry.published if entry else None
    return replace(entry.published, features=None)


def _subject(entry: Entry | None) -> str:
    if entry is None:
        return "a set outside the catalog"
    question = f"regress {entry.targets} targets" if entry.targets else f"tell {entry.classes} classes apart"
    return f"{question} of {entry.graphs:,} graphs"


def _declared_task(entry: Entry | None) -> Task | None:
    """Return the task given by the catalog, None for unlisted sets."""
    if entry is None:
        return None
    return GraphRegression(entry.targets) if entry.targets else GraphClassification(entry.classes or 2)


_LISTED = {name.lower(): name for name in CATALOG}
for _name in CATALOG:
    DATASETS.add(name_of(_name), dataset_class(_name, ""), title=title_of(name_of(_name)))
DATASETS.add_resolver(find, title=title_of)
