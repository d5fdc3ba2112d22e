"""Batches of a single graph: some of its nodes, or some pairs of them, are asked about at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from graphtrial.core.errors import GraphTrialError, InvalidGraphError
from graphtrial.graphs.batch import CHOSEN, GraphBatch
from graphtrial.graphs.column import PAIRS
from graphtrial.graphs.graphset import GraphSet

Ids = npt.NDArray[np.int64]


class NodeLoader:
    """Gives the whole graph, once per pass, with the nodes (or edges) `ids` as the ones that are asked about."""

    def __init__(self, whole: GraphBatch, ids: Ids) -> None:
        self.batch = whole.with_column(CHOSEN, torch.from_numpy(np.array(ids)))

    def __iter__(self) -> Iterator[GraphBatch]:
        return iter([self.batch])


class PairLoader:
    """Gives the whole graph with some of the pairs `ids` of `graphs` at a time, every pair once per pass.

    With a `generator` each pass draws a new order from it, and every batch gets as many pairs more that are drawn
    uniformly from all pairs of nodes and count as not linked: the way links are learnt where only links are known.
    With `others`, pairs that are known not to be linked, these are drawn from instead.
    """

    def __init__(
        self,
        whole: GraphBatch,
        graphs: GraphSet,
        ids: Ids,
        batch_size: int,
        generator: torch.Generator | None = None,
        others: Ids | None = None,
    ) -> None:
        if batch_size < 1:
            raise GraphTrialError(f"a batch needs at least one pair; batch_size is {batch_size}")
        if PAIRS not in graphs.columns or "y" not in graphs.columns:
            raise InvalidGraphError("link prediction needs the columns 'pairs' and 'y', one row per pair of nodes")
        self.whole = whole
        self.pairs = torch.from_numpy(graphs.columns[PAIRS].values[ids].astype(np.int64))
        self.linked = torch.from_numpy(graphs.columns["y"].values[ids].astype(np.int64))
        self.batch_size = batch_size
        self.generator = generator
        chosen = others if others is not None and len(others) else None
        self.others = (
            None if chosen is None else torch.from_numpy(graphs.columns[PAIRS].values[chosen].astype(np.int64))
        )

    def __iter__(self) -> Iterator[GraphBatch]:
        if self.generator is None:
            order = torch.arange(len(self.pairs))
        else:
            order = torch.randperm(len(self.pairs), generator=self.generator)
        for rows in order.split(self.batch_size):
            yield self._ask(self.pairs[rows], self.linked[rows])

    def _ask(self, pairs: Tensor, linked: Tensor) -> GraphBatch:
        if self.generator is not None:
            if self.others is None:
                drawn = torch.randint(self.whole.num_nodes, pairs.shape, generator=self.generator)
            else:
                drawn = self.others[torch.randint(len(self.others), (len(pairs),), generator=self.generator)]
            pairs, linked = torch.cat([pairs, drawn]), torch.cat([linked, torch.zeros_like(linked)])
        return self.whole.with_columns({**self.whole.columns, PAIRS: pairs, "y": linked})
