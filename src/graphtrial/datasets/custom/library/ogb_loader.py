"""Datasets of the Open Graph Benchmark by name; runs in the process of `load` only."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from graphtrial.core.errors import GraphTrialError, missing_extra
from graphtrial.datasets.custom.library.pyg_loader import convert
from graphtrial.graphs import Column, GraphSet
from graphtrial.graphs.column import PAIRS
from graphtrial.graphs.mask_names import NONE, PART
from graphtrial.graphs.masks import MEANING

Array = npt.NDArray[Any]
PARTS = ("train", "valid", "test")


def load_ogb(name: str, root: str, task: str | None) -> GraphSet:
    """Load a dataset with its official split; links are pairs of nodes, with the negative pairs of the benchmark."""
    try:
        from ogb import graphproppred, linkproppred, nodeproppred
    except ImportError:
        raise missing_extra("a dataset of OGB", "ogb", "ogb") from None
    if name.startswith("ogbg-"):
        return convert(graphproppred.PygGraphPropPredDataset(name, root), task)
    if name.startswith("ogbn-"):
        return convert(nodeproppred.PygNodePropPredDataset(name, root), task)
    dataset = linkproppred.PygLinkPropPredDataset(name, root)
    return with_pairs(convert(dataset, task), dataset.get_edge_split())


def with_pairs(graphs: GraphSet, split: dict[str, dict[str, Any]]) -> GraphSet:
    """Add the links of each part and their negative pairs as the columns `pairs`, `y` and `part`.

    The negative pairs of the training part, if any, are left out: training draws its own.
    """
    pairs, linked, parts = [], [], []
    for number, part in enumerate(PARTS):
        for label, key in ((1, "edge"), (0, "edge_neg")):
            if key not in split[part]:
                if label or part != "train":
                    raise GraphTrialError(
                        f"the {part} part of the split has no '{key}'; it has {', '.join(split[part])}"
                    )
                continue
            if not label and part == "train":
                continue
            rows = np.asarray(torch.as_tensor(split[part][key]), np.int64)
            pairs.append(rows)
            linked.append(np.full(len(rows), label, np.uint8))
            parts.append(np.full(len(rows), number, np.uint8))
    columns = {name: column for name, column in graphs.columns.items() if name not in ("y", PART)}
    columns |= {
        PAIRS: Column(np.concatenate(pairs), "pair", "two nodes"),
        "y": Column(np.concatenate(linked), "pair", "whether they are linked", types=2),
        PART: Column(np.concatenate(parts), "pair", MEANING, types=NONE + 1),
    }
    return GraphSet.build(graphs.node_counts, graphs.edge_counts, graphs.edge_index, columns)
