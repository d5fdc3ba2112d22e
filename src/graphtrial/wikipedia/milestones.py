"""Category cleansing: assign each category to its nearest milestone ancestor (Boldi and Monti 2016, as in Wiki-CS)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from graphtrial.core.compiler import Array, compiled


def nearest_milestones(
    start: Array, children: Array, milestone: Array, pruned: Array
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the nearest milestone of each category, and the nearest other milestone above each milestone; -1 for none.

    Multi-source breadth-first search from parents to children, starting at all milestones in index order, which breaks
    ties. Pruned categories are never entered. The nearest milestone of a milestone is itself, even if it is pruned.
    """
    above = np.full(len(milestone), -1, np.int64)
    _breadth_first_search(start, children, milestone, pruned, above)
    own = np.where(milestone, np.arange(len(milestone)), above)
    return own, np.where(milestone, above, -1)


@compiled
def _breadth_first_search(start: Array, children: Array, milestone: Array, pruned: Array, above: Array) -> None:
    queue = np.empty(len(milestone), np.int64)
    last = 0
    for node in range(len(milestone)):
        if milestone[node] and not pruned[node]:
            queue[last] = node
            last += 1
    first = 0
    while first < last:
        node = queue[first]
        first += 1
        root = node if milestone[node] else above[node]
        for at in range(start[node], start[node + 1]):
            child = children[at]
            if above[child] < 0 and child != root and not pruned[child]:
                above[child] = root
                if not milestone[child]:
                    queue[last] = child
                    last += 1
