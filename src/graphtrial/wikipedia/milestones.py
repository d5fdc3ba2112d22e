"""From each category to the nearest of some chosen ones above it (Boldi and Monti 2016, as changed for Wiki-CS)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from graphtrial.core.compiler import Array, compiled


def nearest_milestones(
    start: Array, children: Array, milestone: Array, pruned: Array
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return for each category its milestone, and for each milestone the nearest other one above it; -1 for none.

    One breadth-first walk from parents to children starts at all milestones, in order of their numbers, so that of two
    equally near ones that is taken whose branch comes first. Pruned categories are never entered or crossed: what is
    below them only has no milestone through them. A milestone is its own, even a pruned one.
    """
    above = np.full(len(milestone), -1, np.int64)
    _walk(start, children, milestone, pruned, above)
    own = np.where(milestone, np.arange(len(milestone)), above)
    return own, np.where(milestone, above, -1)


@compiled
def _walk(start: Array, children: Array, milestone: Array, pruned: Array, above: Array) -> None:
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
