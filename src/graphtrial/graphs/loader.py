"""Mini-batch loaders: shuffling by a generator, prefetching in a thread, gradient accumulation."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial

import numpy as np
import numpy.typing as npt
import torch

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs.batch import GraphBatch
from graphtrial.graphs.graphset import GraphSet
from graphtrial.graphs.pointers import graph_ids

Collate = Callable[[npt.NDArray[np.int64]], GraphBatch]
MIN_PREFETCH_SIZE = 50_000  # nodes and edges per batch; below it, handing over to a thread costs more than it saves
MAX_CACHED_SIZE = 5_000_000  # nodes and edges of all batches: some 300 MB


class Loader:
    """Mini-batch loader over the graphs `ids`; each epoch has every graph once, the last batch may be smaller.

    With a `generator`, each epoch is shuffled by one permutation drawn before its first batch: the order depends on the
    generator's state alone, not on threads or processes. `prefetch` batches are prefetched in a background thread
    (batches below `MIN_PREFETCH_SIZE` are not). `cache` keeps unshuffled batches for later epochs. `collate` takes the
    place of `GraphBatch.from_set`.
    """

    def __init__(
        self,
        graphs: GraphSet,
        ids: npt.ArrayLike,
        batch_size: int,
        *,
        generator: torch.Generator | None = None,
        prefetch: int = 2,
        cache: bool = False,
        collate: Collate | None = None,
    ) -> None:
        if batch_size < 1:
            raise GraphTrialError(f"a batch needs at least one graph; batch_size is {batch_size}")
        self.graphs = graphs
        self.ids = graph_ids(ids, len(graphs))
        self.batch_size = batch_size
        self.generator = generator
        self.prefetch = prefetch
        self.collate: Collate = collate or partial(GraphBatch.from_set, graphs)
        self.cache = cache and generator is None and self._expected_size(len(self.ids)) < MAX_CACHED_SIZE
        self._batches: list[GraphBatch] = []

    def __len__(self) -> int:
        return -(-len(self.ids) // self.batch_size)

    def __iter__(self) -> Iterator[GraphBatch]:
        if not self.cache:
            return self._epoch()
        if not self._batches:
            self._batches = list(self._epoch())
        return iter(self._batches)

    def _epoch(self) -> Iterator[GraphBatch]:
        order = self.ids
        if self.generator is not None:
            order = order[torch.randperm(len(order), generator=self.generator).numpy()]
        batches = self._split(order)
        if self.prefetch < 1 or len(batches) < 2 or self._expected_size(self.batch_size) < MIN_PREFETCH_SIZE:
            return (self.collate(ids) for ids in batches)
        return self._prefetched(batches)

    def _split(self, order: npt.NDArray[np.int64]) -> list[npt.NDArray[np.int64]]:
        return [order[start : start + self.batch_size] for start in range(0, len(order), self.batch_size)]

    def _expected_size(self, graphs: int) -> float:
        """Return the mean number of nodes plus edges of that many graphs."""
        return (self.graphs.num_nodes + self.graphs.num_edges) / max(1, len(self.graphs)) * graphs

    def _prefetched(self, batches: list[npt.NDArray[np.int64]]) -> Iterator[GraphBatch]:
        pending: deque[Future[GraphBatch]] = deque()
        with ThreadPoolExecutor(1, thread_name_prefix="graphtrial-loader") as worker:
            try:
                for ids in batches:
                    pending.append(worker.submit(self.collate, ids))
                    if len(pending) > self.prefetch:
                        yield pending.popleft().result()
                while pending:
                    yield pending.popleft().result()
            finally:
                for future in pending:
                    future.cancel()


class AccumulatingLoader(Loader):
    """Gradient accumulation over single graphs: step when `index % batch_size == 0`, as in the reference.

    The first batch has one graph, all others have `batch_size`, and an incomplete last batch is dropped: so the
    reference implementation trains its Weisfeiler-Leman networks.
    """

    def _split(self, order: npt.NDArray[np.int64]) -> list[npt.NDArray[np.int64]]:
        full = range(1, len(order) - self.batch_size + 1, self.batch_size)
        return [order[:1], *(order[start : start + self.batch_size] for start in full)]
