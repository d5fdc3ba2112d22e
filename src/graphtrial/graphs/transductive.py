"""Loaders for transductive learning on a single graph: target nodes, or mini-batches of node pairs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from graphtrial.core.errors import GraphTrialError, InvalidGraphError
from graphtrial.graphs.batch import TARGET_INDEX, GraphBatch
from graphtrial.graphs.column import PAIRS, QUERY
from graphtrial.graphs.graphset import GraphSet
from graphtrial.graphs.transfer import to_device

Ids = npt.NDArray[np.int64]


class NodeLoader:
    """Full-batch loader: the whole graph once per epoch, with the nodes or edges `ids` as `target_index`."""

    def __init__(self, graph: GraphBatch, ids: Ids) -> None:
        self.batch = graph.with_column(TARGET_INDEX, to_device(torch.from_numpy(np.array(ids)), graph.device))

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[GraphBatch]:
        return iter([self.batch])


class PairLoader:
    """Link prediction loader: the whole graph with mini-batches of the candidate pairs `ids`, each once per epoch.

    With a `generator`, pairs are shuffled and every batch gets one negative per pair (negative sampling): drawn
    uniformly from the pairs `negatives`, or, without them, from all node pairs. Without one the batches have the column
    `query`, if the set has it.
    """

    def __init__(
        self,
        graph: GraphBatch,
        graphs: GraphSet,
        ids: Ids,
        batch_size: int,
        generator: torch.Generator | None = None,
        negatives: Ids | None = None,
    ) -> None:
        if batch_size < 1:
            raise GraphTrialError(f"a batch needs at least one pair; batch_size is {batch_size}")
        if PAIRS not in graphs.columns or "y" not in graphs.columns:
            raise InvalidGraphError("link prediction needs the columns 'pairs' and 'y', one row per pair of nodes")
        self.graph = graph
        names = [QUERY] if QUERY in graphs.columns and generator is None else []
        self.columns = {name: self._column(graphs, name, ids) for name in (PAIRS, "y", *names)}
        self.batch_size = batch_size
        self.generator = generator
        self.negatives: Tensor | None = None
        if negatives is not None and len(negatives):
            self.negatives = self._column(graphs, PAIRS, negatives)

    def __len__(self) -> int:
        return -(-len(self.columns[PAIRS]) // self.batch_size)

    def __iter__(self) -> Iterator[GraphBatch]:
        count = len(self.columns[PAIRS])
        order = torch.arange(count) if self.generator is None else torch.randperm(count, generator=self.generator)
        for rows in to_device(order, self.graph.device).split(self.batch_size):
            yield self._batch({name: values[rows] for name, values in self.columns.items()})

    def _batch(self, columns: dict[str, Tensor]) -> GraphBatch:
        if self.generator is not None:
            pairs, labels = columns[PAIRS], columns["y"]
            if self.negatives is None:
                sampled = self._sampled(self.graph.num_nodes, pairs.shape)
            else:
                sampled = self.negatives[self._sampled(len(self.negatives), pairs.shape[:1])]
            columns = {
                PAIRS: torch.cat([pairs, sampled]),
                "y": torch.cat([labels, torch.zeros_like(labels)]),
            }
        return self.graph.with_columns({**self.graph.columns, **columns})

    def _sampled(self, high: int, shape: torch.Size) -> Tensor:
        return to_device(torch.randint(high, shape, generator=self.generator), self.graph.device)

    def _column(self, graphs: GraphSet, name: str, ids: Ids) -> Tensor:
        return to_device(torch.from_numpy(graphs.columns[name].values[ids].astype(np.int64)), self.graph.device)
