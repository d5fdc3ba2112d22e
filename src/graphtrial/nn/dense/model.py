"""What RingGNN and 3WL-GNN share: buckets, bounded memory, answers in the order of the batch."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import torch
from torch import Tensor, nn

from graphtrial.graphs import GraphBatch
from graphtrial.nn.dense.buckets import Bucket, Plan, plan_of
from graphtrial.nn.dense.entries import Entries, Featureless, PairInput
from graphtrial.nn.dense.memory import Needs, again, thrift_for
from graphtrial.nn.raw import require_level
from graphtrial.nn.shapes import Shapes

CACHED_NUMBERS = 256_000
"""The numbers of one state that a bucket is filled up to, so that a layer works within the processor's cache."""


class DenseModel(nn.Module):
    """A stack of layers on the pairs of nodes of each graph, run bucket by bucket.

    The papers run such models one graph at a time; here graphs of similar size run together, and each gets the answer
    that it gets alone, up to rounding. A batch whose activations would exceed a budget is computed a second time in the
    backward pass instead of being kept; a graph that cannot fit raises `MemoryError`.
    """

    levels = ("graph", "node", "edge")

    worth = 0
    """The padded pairs that a bucket less is worth."""

    randomised_encodings = False
    """The released training loop of such models hands encodings on as they are: no signs are flipped."""

    def __init__(
        self, shapes: Shapes, *, width: int, edge_features: bool, featureless: Featureless, needs: Needs
    ) -> None:
        super().__init__()
        require_level("this model", shapes, self.levels)
        self.level = shapes.level
        self.input = PairInput(shapes, edge_features=edge_features, featureless=featureless)
        self.most_pairs = max(1, CACHED_NUMBERS // width)
        self.needs = needs
        self._proven = 0

    @abstractmethod
    def prepare(self) -> list[Any]:
        """Return for each layer what is computed from its weights once for all buckets."""

    @abstractmethod
    def layer(self, at: int, h: Tensor | Entries, bucket: Bucket, prepared: Any) -> Tensor:
        """Return the state after layer `at`."""

    @abstractmethod
    def read(self, states: list[Tensor | Entries], bucket: Bucket) -> Tensor:
        """Return the vectors that the head hears, one row for each graph or node of the bucket."""

    @abstractmethod
    def answer(self, graph: GraphBatch, rows: Tensor) -> Tensor:
        """Return the answers from the rows of all graphs or nodes, in the order of the batch."""

    def forward(self, graph: GraphBatch) -> Tensor:
        plan = plan_of(graph, self.most_pairs, self.worth)
        parameter = next(self.parameters())
        thrift = thrift_for(plan, self.needs, parameter.element_size(), self._proven)
        prepared = self.prepare()

        def bucket_rows(entries: Entries) -> Tensor:
            states: list[Tensor | Entries] = [entries]
            for at, weights in enumerate(prepared):
                states.append(again(self.layer, at, states[-1], entries.bucket, weights, thrifty=thrift.layers))
            return self.read(states, entries.bucket)

        parts = self.input.read(graph, plan, parameter.dtype)
        rows = torch.cat([again(bucket_rows, entries, thrifty=thrift.buckets) for entries in parts])
        self._proven = max(self._proven, *(bucket.pairs for bucket in plan.buckets))
        return self.answer(graph, rows.index_select(0, self._place(plan)))

    def _place(self, plan: Plan) -> Tensor:
        return plan.graph_place if self.level == "graph" else plan.node_place
