"""Check before a training that the metric is defined on every part of a split."""

from __future__ import annotations

import logging

import numpy as np
import numpy.typing as npt
import torch

from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets.dataset import Dataset

logger = logging.getLogger(__name__)
_checked: set[tuple[str, int, str]] = set()
MOST_LISTED = 8


def check_part_labels(dataset: Dataset, split: int) -> None:
    """Raise an error where the labels of a part leave the metric undefined, such as ROC-AUC of one class.

    A training would otherwise fail after its first epoch, or at its end. Target columns that a part leaves out of the
    mean are logged as a warning. Links have positive and negative pairs by construction.
    """
    task, y = dataset.task, dataset.graphs.columns.get("y")
    key = (dataset.hash, split, task.metric.title)
    binary = task.output_type in ("binary", "real") or (task.output_type == "class" and task.metric.two_classes)
    if key in _checked or y is None or y.level != task.level or y.level == "pair" or not binary:
        return
    level, left_out = dataset.spec.split_level, []
    for part, ids in dataset.splits[split].parts.items():
        rows = ids if level == y.level else _rows_of(dataset, ids, y.level)
        if not len(rows):
            continue
        target = torch.from_numpy(np.array(y.values[rows], np.float64)).reshape(len(rows), -1)
        defined = task.metric.defined_columns(target)
        if not bool(defined.any()):
            raise GraphTrialError(
                f"{task.metric.title} is undefined on the {part} part of split {split} of {dataset.name}: its "
                f"{len(rows)} examples have {_labels_of(target)}; import the data with another split (masks of yours, "
                "--split, --folds, --seed) or another metric (--task)"
            )
        if not bool(defined.all()):
            left_out.append(f"of {part} {_listed((~defined).nonzero().flatten().tolist())}")
    if left_out:
        logger.warning(
            "%s, split %d: %s leaves out target columns without the labels that it needs: %s",
            *(dataset.name, split, task.metric.title, "; ".join(left_out)),
        )
    _checked.add(key)


def _labels_of(target: torch.Tensor) -> str:
    values = target[~target.isnan()].unique().tolist()
    return f"no label but {values[0]:g}" if values else "no label"


def _listed(columns: list[int]) -> str:
    return ", ".join(map(str, columns[:MOST_LISTED])) + (", ..." if len(columns) > MOST_LISTED else "")


def _rows_of(dataset: Dataset, graph_ids: npt.NDArray[np.int64], level: str) -> npt.NDArray[np.int64]:
    """Return the rows of nodes or edges of these graphs."""
    counts = dataset.graphs.node_counts if level == "node" else dataset.graphs.edge_counts
    return np.flatnonzero(np.repeat(np.isin(np.arange(len(counts)), graph_ids), counts))
