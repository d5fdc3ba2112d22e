"""Link prediction on custom datasets: held-out links and fixed negative pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets.links import TEST, VAL, hide_links
from graphtrial.graphs import GraphSet
from graphtrial.graphs.column import PAIRS

FRACTIONS = (1 - VAL - TEST, VAL, TEST)
RANKING = "link-ranking"


def predicts_links(task: str | None) -> bool:
    """Return whether a task such as `link-prediction:metric=mrr` is link prediction, or the ranking of links."""
    return task is not None and task.partition(":")[0] in ("link-prediction", RANKING)


def with_links(graphs: GraphSet, rule: dict[str, Any]) -> GraphSet:
    """Hold out links by the split rule, with as many fixed negative pairs; pairs that come with the data stay.

    `rule` has the fractions of training, validation and test links, and either a `seed`, for a random split, or `time`,
    the edge column by which the latest links are held out.
    """
    if PAIRS in graphs.columns:
        return graphs
    if len(graphs) != 1:
        raise GraphTrialError(f"links are predicted in a single graph, but there are {len(graphs)}")
    if "folds" in rule:
        raise GraphTrialError("links are held out once, not in folds: use --split, such as 0.85/0.05/0.10")
    fractions = rule.get("shares", FRACTIONS)
    if not all(0 < part < 1 for part in fractions) or abs(sum(fractions) - 1) > 1e-9:
        raise GraphTrialError(f"a split has three fractions above 0 that sum to 1: 0.85/0.05/0.10, not {fractions}")
    time = None
    if "time" in rule:
        column = graphs.column(rule["time"])
        if column.level != "edge" or column.width != 1:
            raise GraphTrialError(f"'{rule['time']}' is no time of edges: it needs one number for each of them")
        time = np.asarray(column.values).reshape(-1)
    return hide_links(graphs, seed=rule.get("seed", 0), val=fractions[1], test=fractions[2], time=time)
