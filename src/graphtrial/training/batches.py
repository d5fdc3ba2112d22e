"""How examples reach the model: graphs in batches, or a single graph of which some parts are asked about."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from graphtrial.core.errors import GraphTrialError
from graphtrial.encodings import Encoding
from graphtrial.graphs import GraphBatch, GraphSet, Loader
from graphtrial.graphs.column import Level
from graphtrial.graphs.loader import AccumulatingLoader
from graphtrial.graphs.transductive import NodeLoader, PairLoader
from graphtrial.tasks import Task
from graphtrial.training.rules import TrainingRules

Ids = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Job:
    """Everything one training needs. The graphs carry the encoding, if any, as a column.

    The ids number graphs, or, by `split_level`, the nodes, edges or pairs of the single graph.
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

    @cached_property
    def whole(self) -> GraphBatch:
        """All graphs in one batch."""
        return GraphBatch.from_set(self.graphs, np.arange(len(self.graphs)))


def training_batches(job: Job, generator: torch.Generator) -> Iterable[GraphBatch]:
    """Return what is trained on in an epoch; each pass draws a new order from the generator."""
    rules = job.rules
    accumulates = rules.gradient == "accumulated"
    if job.split_level == "graph":
        kind = AccumulatingLoader if accumulates else Loader
        return kind(job.graphs, job.train_ids, rules.batch_size, generator=generator)
    if accumulates:
        raise GraphTrialError("gradients are accumulated over graphs, but here is only one: use gradient=mean")
    if job.split_level in ("node", "edge"):
        return NodeLoader(job.whole, job.train_ids)
    return PairLoader(job.whole, job.graphs, job.train_ids, rules.batch_size, generator, pairs_to_draw(job))


def pairs_to_draw(job: Job) -> Ids:
    """Return the pairs that are not linked and in no part of the split: training draws from them where there are some.

    Without any it draws from all pairs of nodes.
    """
    unused = np.ones(job.graphs.size["pair"], bool)
    unused[np.concatenate([job.train_ids, job.val_ids, job.test_ids])] = False
    return np.flatnonzero(unused & (np.asarray(job.graphs.column("y").values) == 0))


def scored_batches(job: Job, part: str, *, keep: bool = False) -> Iterable[GraphBatch]:
    """Return the examples of one part of the split, in order, to be scored; `keep` holds them ready for the next pass.

    Links that were trained on are ranked among the pairs of the validation part that are not linked.
    """
    ids = {"train": job.train_ids, "val": job.val_ids, "test": job.test_ids}[part]
    if job.split_level == "graph":
        return Loader(job.graphs, ids, job.rules.batch_size, cache=keep)
    if job.split_level in ("node", "edge"):
        return NodeLoader(job.whole, ids)
    if part == "train":
        ids = np.concatenate([ids, job.val_ids[job.graphs.column("y").values[job.val_ids] == 0]])
    return PairLoader(job.whole, job.graphs, ids, len(ids))
