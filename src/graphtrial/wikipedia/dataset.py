"""Export of a finished build to a GraphSet, registered as a dataset of the user."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets.custom import import_graphs
from graphtrial.datasets.dataset import Dataset
from graphtrial.datasets.wikics import Validation, graph_of
from graphtrial.graphs import Column, GraphSet
from graphtrial.graphs.mask_names import PART
from graphtrial.wikipedia.stages import StageResult

PROTOCOL = "bgnn-v5/wikics"
LICENCE = "CC BY-SA (texts of Wikipedia)"
TRAIN, VAL, TEST, NONE = 0, 1, 2, 3


def keep_dataset(
    name: str, result: StageResult, vectors: StageResult, validation: Validation = "merged", *, replace: bool = False
) -> Dataset:
    """Register the exported graph, undirected and without parallel edges, with its twenty splits."""
    graphs = graph_set(result.folder, vectors.folder, len(result.report["classes"]), validation)
    return import_graphs(
        name,
        graphs,
        protocol=PROTOCOL,
        licence=LICENCE,
        title=f"{name}: articles of Wikipedia in {len(result.report['classes'])} classes",
        replace=replace,
    )


def graph_set(folder: Path, vectors: Path, classes: int, validation: Validation) -> GraphSet:
    """Return the graph with x (mean word vector), y (class) and the split assignment of each node [nodes, splits]."""
    if validation not in ("merged", "val", "stopping"):
        raise GraphTrialError(f"validation is merged, val or stopping, not '{validation}'")
    array = {name: np.load(folder / f"{name}.npy") for name in ("labels", "ends", "train", "stopping", "val", "test")}
    x = np.load(vectors / "features.npy", mmap_mode="r").astype(np.float32)
    words = Column(x, "node", "mean word vector of the article")
    graphs = graph_of(words, array["labels"], array["ends"], multigraph=False, classes=classes)
    chosen = {"merged": array["val"] | array["stopping"], "val": array["val"], "stopping": array["stopping"]}
    part = np.full(array["train"].shape, NONE, np.uint8)
    part[:, array["test"]] = TEST
    part[chosen[validation]] = VAL
    part[array["train"]] = TRAIN
    return graphs.with_column(PART, Column(np.ascontiguousarray(part.T), "node", "part in each split"))
