"""Datasets of the Open Graph Benchmark by name; runs in the process of `load` only."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from graphtrial.core.errors import GraphTrialError, missing_extra
from graphtrial.datasets.custom.library.pyg_loader import convert
from graphtrial.graphs import Column, GraphSet
from graphtrial.graphs.column import PAIRS, QUERY
from graphtrial.graphs.links.pyg_pairs import LINKED
from graphtrial.graphs.mask_names import NONE, PART
from graphtrial.graphs.masks import MEANING

Array = npt.NDArray[Any]
PARTS = ("train", "valid", "test")
SOURCE, TARGET, NEGATIVE = "source_node", "target_node", "target_node_neg"
"""Links of ogbl-citation2, [links] each, and the negative targets of each, [links, negatives]."""


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

    The negative pairs of the training part, if any, are left out: training draws its own. Where each link has negative
    targets of its own, as on ogbl-citation2, the column `query` numbers the links, and those have its number.
    """
    rows = [
        (number, *each) for number, part in enumerate(PARTS) for each in _pairs_of(split[part], part, number == 0)
    ]  # part, label, pairs, query within the part
    parts, labels, pairs, queries = zip(*rows, strict=True)
    sizes = [len(each) for each in pairs]
    columns = {name: column for name, column in graphs.columns.items() if name not in ("y", PART)}
    columns |= {
        PAIRS: Column(np.concatenate(pairs), "pair", "two nodes"),
        "y": Column(np.repeat(np.array(labels, np.uint8), sizes), "pair", LINKED, types=2),
        PART: Column(np.repeat(np.array(parts, np.uint8), sizes), "pair", MEANING, types=NONE + 1),
    }
    if SOURCE in split[PARTS[0]]:
        starts = np.cumsum([0, *(len(split[part][SOURCE]) for part in PARTS)])
        numbers = [(query + starts[part]).astype(np.int32) for part, query in zip(parts, queries, strict=True)]
        columns[QUERY] = Column(np.concatenate(numbers), "pair", "links are ranked among the pairs of their query")
    return GraphSet.build(graphs.node_counts, graphs.edge_counts, graphs.edge_index, columns)


def _pairs_of(split: dict[str, Any], part: str, training: bool) -> list[tuple[int, Array, Array]]:
    """Return label, pairs and query of the links of a part and, unless it is for training, of the negative pairs."""
    if SOURCE in split:
        ends = [_array(split, key, part).astype(np.int32) for key in (SOURCE, TARGET)]
        if ends[0].ndim != 1 or ends[0].shape != ends[1].shape:
            raise GraphTrialError(f"the {part} part has {SOURCE} and {TARGET} of different shapes")
        query = np.arange(len(ends[0]))
        links = (1, np.stack(ends, axis=1), query)
        if training:
            return [links]
        negative = _array(split, NEGATIVE, part).astype(np.int32)
        if negative.ndim != 2 or len(negative) != len(query) or not negative.shape[1]:
            raise GraphTrialError(
                f"the {part} part has {NEGATIVE} of shape {list(negative.shape)}; [{len(query)}, negatives] is needed"
            )
        width = negative.shape[1]
        candidates = np.stack([np.repeat(ends[0], width), negative.reshape(-1)], axis=1)
        return [links, (0, candidates, np.repeat(query, width))]
    keys = {"edge": 1} if training else {"edge": 1, "edge_neg": 0}
    pairs = {label: _array(split, key, part).astype(np.int64) for key, label in keys.items()}
    return [(label, rows, np.arange(len(rows))) for label, rows in pairs.items()]


def _array(split: dict[str, Any], key: str, part: str) -> Array:
    if key not in split:
        raise GraphTrialError(f"the {part} part of the split has no '{key}'; it has {', '.join(split)}")
    return np.asarray(torch.as_tensor(split[key]))
