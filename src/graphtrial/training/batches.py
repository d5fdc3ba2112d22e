"""Batches of a training: many graphs at a time, or a single graph with a mask of target nodes, edges or pairs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from graphtrial.core.errors import GraphTrialError
from graphtrial.encodings import Encoding
from graphtrial.graphs import GraphBatch, GraphSet, Loader
from graphtrial.graphs.column import PAIRS, Level
from graphtrial.graphs.links.candidates import training_queries
from graphtrial.graphs.loader import AccumulatingLoader
from graphtrial.graphs.transductive import NodeLoader, PairLoader
from graphtrial.graphs.transfer import ResidentSet, is_small
from graphtrial.tasks import Task
from graphtrial.training.rules import TrainingRules

Ids = npt.NDArray[np.int64]
CPU = torch.device("cpu")


@dataclass(frozen=True)
class Job:
    """Everything one training needs. The graphs carry the encoding, if any, as a column.

    The ids number graphs, or, by `split_level`, the nodes, edges or pairs of the single graph. Batches come on the
    `device`, where small datasets stay. Without `score_test` no batch of the test part is ever built. A training that
    no rule has ended after the epoch `pause_at` pauses.
    """

    graphs: GraphSet
    train_ids: Ids
    val_ids: Ids
    test_ids: Ids
    task: Task
    build: Callable[[], nn.Module]
    rules: TrainingRules
    seed: int
    encoding: Encoding | None = None
    split_level: Level = "graph"
    score_test: bool = True
    pause_at: int | None = None
    device: torch.device = CPU

    @cached_property
    def whole(self) -> GraphBatch:
        """All graphs in one batch, on the device."""
        return GraphBatch.from_set(self.graphs, np.arange(len(self.graphs))).to(self.device)

    @cached_property
    def resident(self) -> ResidentSet | None:
        """The graphs on the device, where they are small and it is not the CPU."""
        keep = self.device.type != "cpu" and self.split_level == "graph" and is_small(self.graphs)
        keep = keep and PAIRS not in self.graphs.columns
        return ResidentSet(self.graphs, self.device) if keep else None

    def loader(self, kind: type[Loader], ids: Ids, **options: Any) -> Iterable[GraphBatch]:
        """Return the batches of some graphs, on the device."""
        if self.resident is not None:
            options |= {"collate": self.resident.batch, "prefetch": 0}
        elif self.device.type != "cpu":
            options["collate"] = self._moved
        return kind(self.graphs, ids, self.rules.batch_size, **options)

    def evaluation_batch(self, ids: Ids) -> GraphBatch:
        """Return a batch with the pairs that its links are ranked among, on the device."""
        return self.task.evaluation_batch(self._moved(ids), ids)

    def _moved(self, ids: Ids) -> GraphBatch:
        return GraphBatch.from_set(self.graphs, ids).to(self.device)


def training_batches(job: Job, generator: torch.Generator) -> Iterable[GraphBatch]:
    """Return the batches of an epoch; each pass shuffles them by the generator."""
    rules = job.rules
    per_graph = rules.accumulation == "as-published"
    if job.split_level == "graph":
        kind = AccumulatingLoader if per_graph else Loader
        return job.loader(kind, job.train_ids, generator=generator)
    if per_graph:
        raise GraphTrialError("there is a single graph, over which no gradients can be summed: use accumulation=1")
    if job.split_level in ("node", "edge"):
        return NodeLoader(job.whole, job.train_ids)
    return PairLoader(job.whole, job.graphs, job.train_ids, rules.batch_size, generator, pairs_to_draw(job))


def steps_per_epoch(job: Job) -> int:
    """Return the number of optimizer steps of an epoch."""
    rules, examples = job.rules, len(job.train_ids)
    if job.split_level in ("node", "edge"):
        return 1
    if rules.accumulation == "as-published":
        return 1 + max(0, examples - 1) // rules.batch_size
    return max(1, math.ceil(math.ceil(examples / rules.batch_size) / rules.accumulation))


def pairs_to_draw(job: Job) -> Ids:
    """Return the candidate negatives of training: pairs that are not linked and in no split.

    Without any, negatives are drawn from all pairs of nodes.
    """
    unused = np.ones(job.graphs.size["pair"], bool)
    unused[np.concatenate([job.train_ids, job.val_ids, job.test_ids])] = False
    return np.flatnonzero(unused & (np.asarray(job.graphs.column("y").values) == 0))


def evaluation_batches(job: Job, part: str, *, cache: bool = False) -> Iterable[GraphBatch]:
    """Return the batches of the train, val or test set, in order; `cache` keeps them for the next pass.

    Training links are ranked among the negative pairs of the validation set, or within queries with their targets.
    """
    ids = {"train": job.train_ids, "val": job.val_ids, "test": job.test_ids}[part]
    if job.split_level == "graph":
        if job.task.level == "pair":
            return Loader(job.graphs, ids, job.rules.batch_size, cache=cache, collate=job.evaluation_batch)
        return job.loader(Loader, ids, cache=cache)
    if job.split_level in ("node", "edge"):
        return NodeLoader(job.whole, ids)
    if part == "train" and job.task.output_type == "ranking":
        queries = training_queries(job.graphs, ids, job.val_ids)
        return PairLoader(job.whole, queries, np.arange(queries.size["pair"]), queries.size["pair"])
    if part == "train":
        ids = np.concatenate([ids, job.val_ids[job.graphs.column("y").values[job.val_ids] == 0]])
    return PairLoader(job.whole, job.graphs, ids, len(ids))
