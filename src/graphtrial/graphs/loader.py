"""Batches of a set, shuffled from a given generator and assembled ahead of their use."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import numpy.typing as npt
import torch

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs.batch import GraphBatch
from graphtrial.graphs.graphset import GraphSet, graph_ids

WORTH_A_THREAD = 50_000  # nodes and edges of a batch
SMALL_ENOUGH_TO_KEEP = 5_000_000  # nodes and edges of all batches: some 300 MB


class Loader:
    """Iterates over the graphs `ids` in batches; every graph once per pass, none dropped.

    With a `generator` each pass draws a new order from it, before the first batch is made: the batches depend on the
    generator's state alone, not on threads or processes. `prefetch` batches are assembled ahead by a helper thread,
    unless they are so small that waking the thread costs more than it saves.
    """

    def __init__(
        self,
        graphs: GraphSet,
        ids: npt.ArrayLike,
        batch_size: int,
        *,
        generator: torch.Generator | None = None,
        prefetch: int = 2,
        keep: bool = False,
    ) -> None:
        if batch_size < 1:
            raise GraphTrialError(f"a batch needs at least one graph; batch_size is {batch_size}")
        self.graphs = graphs
        self.ids = graph_ids(ids, len(graphs))
        self.batch_size = batch_size
        self.generator = generator
        self.prefetch = prefetch
        self.keep = keep and generator is None and self._rows(len(self.ids)) < SMALL_ENOUGH_TO_KEEP
        self._kept: list[GraphBatch] = []

    def __len__(self) -> int:
        return -(-len(self.ids) // self.batch_size)

    def __iter__(self) -> Iterator[GraphBatch]:
        if not self.keep:
            return self._pass()
        if not self._kept:
            self._kept = list(self._pass())
        return iter(self._kept)

    def _pass(self) -> Iterator[GraphBatch]:
        order = self.ids
        if self.generator is not None:
            order = order[torch.randperm(len(order), generator=self.generator).numpy()]
        parts = self._divide(order)
        if self.prefetch < 1 or len(parts) < 2 or self._rows(self.batch_size) < WORTH_A_THREAD:
            return (GraphBatch.from_set(self.graphs, part) for part in parts)
        return self._ahead(parts)

    def _divide(self, order: npt.NDArray[np.int64]) -> list[npt.NDArray[np.int64]]:
        return [order[start : start + self.batch_size] for start in range(0, len(order), self.batch_size)]

    def _rows(self, graphs: int) -> float:
        """Return how many nodes and edges so many graphs have on average."""
        return (self.graphs.num_nodes + self.graphs.num_edges) / max(1, len(self.graphs)) * graphs

    def _ahead(self, parts: list[npt.NDArray[np.int64]]) -> Iterator[GraphBatch]:
        waiting: deque[Future[GraphBatch]] = deque()
        with ThreadPoolExecutor(1, thread_name_prefix="graphtrial-loader") as helper:
            try:
                for part in parts:
                    waiting.append(helper.submit(GraphBatch.from_set, self.graphs, part))
                    if len(waiting) > self.prefetch:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            finally:
                for future in waiting:
                    future.cancel()


class AccumulatingLoader(Loader):
    """Batches as a loop over single graphs makes them that steps whenever the number of the graph divides by the size.

    The first batch has one graph, all others have `batch_size`, and what is left over at the end is dropped: the
    reference trains Weisfeiler-Leman networks in this way.
    """

    def _divide(self, order: npt.NDArray[np.int64]) -> list[npt.NDArray[np.int64]]:
        full = range(1, len(order) - self.batch_size + 1, self.batch_size)
        return [order[:1], *(order[start : start + self.batch_size] for start in full)]
