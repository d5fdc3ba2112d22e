"""Base class of dense models on node pairs (RingGNN, 3WL-GNN): buckets, activation checkpointing, output order."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import torch
from torch import Tensor, nn

from graphtrial.graphs import GraphBatch
from graphtrial.graphs.pairs.buckets import Bucket, Plan, bucket_plan
from graphtrial.nn.dense.checkpointing import MemoryNeeds, choose_checkpointing, maybe_checkpoint
from graphtrial.nn.dense.pair_input import Entries, Featureless, PairInput
from graphtrial.nn.raw_features import require_level
from graphtrial.nn.shapes import Shapes
from graphtrial.ops.portable import full_precision

CACHED_NUMBERS = 256_000
"""Maximum number of elements of a state of a bucket, so that a layer works within the processor's cache."""


class DenseModel(nn.Module):
    """Base class of stacks of layers on the node pairs of each graph, run bucket by bucket.

    The papers run such models one graph at a time; here graphs of similar size are padded and batched, with the same
    predictions up to rounding. Activations beyond a budget are recomputed in the backward pass (activation
    checkpointing); a graph that cannot fit raises `MemoryError`.
    """

    levels = ("graph", "node", "edge")

    padding_cost = 0
    """Padded pairs that cost as much as one more bucket."""

    randomised_encodings = False
    """The released training loop of such models hands encodings on as they are: no signs are flipped."""

    def __init__(
        self, shapes: Shapes, *, width: int, edge_features: bool, featureless: Featureless, needs: MemoryNeeds
    ) -> None:
        super().__init__()
        require_level("this model", shapes, self.levels)
        self.level = shapes.level
        self.input = PairInput(shapes, edge_features=edge_features, featureless=featureless)
        self.max_pairs = max(1, CACHED_NUMBERS // width)
        self.needs = needs
        self._fitted_pairs = 0

    def plan(self, graph: GraphBatch) -> Plan:
        """Return the buckets of a batch."""
        return bucket_plan(graph, self.max_pairs, self.padding_cost)

    @abstractmethod
    def prepare(self, plan: Plan) -> list[Any]:
        """Return, for each layer, tensors derived from its weights once for all buckets."""

    @abstractmethod
    def layer(self, at: int, h: Tensor | Entries, bucket: Bucket, prepared: Any) -> Tensor:
        """Return the state after layer `at`."""

    @abstractmethod
    def read(self, states: list[Tensor | Entries], bucket: Bucket) -> Tensor:
        """Pool the states of all layers to the input rows of the head, one per graph or node of the bucket."""

    @abstractmethod
    def predict(self, graph: GraphBatch, rows: Tensor) -> Tensor:
        """Return the logits from the pooled rows of all graphs or nodes, in the order of the batch."""

    @full_precision
    def forward(self, graph: GraphBatch) -> Tensor:
        plan = self.plan(graph)
        parameter = next(self.parameters())
        checkpointing = choose_checkpointing(plan, self.needs, parameter.element_size(), self._fitted_pairs)
        prepared = self.prepare(plan)

        def bucket_rows(entries: Entries) -> Tensor:
            states: list[Tensor | Entries] = [entries]
            for at, weights in enumerate(prepared):
                states.append(
                    maybe_checkpoint(
                        self.layer, at, states[-1], entries.bucket, weights, recompute=checkpointing.layers
                    )
                )
            return self.read(states, entries.bucket)

        parts = self.input.read(graph, plan, parameter.dtype)
        rows = torch.cat([maybe_checkpoint(bucket_rows, entries, recompute=checkpointing.buckets) for entries in parts])
        self._fitted_pairs = max(self._fitted_pairs, *(bucket.pairs for bucket in plan.buckets))
        return self.predict(graph, rows.index_select(0, self._place(plan)))

    def _place(self, plan: Plan) -> Tensor:
        return plan.graph_place if self.level == "graph" else plan.node_place
