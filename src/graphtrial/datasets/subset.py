"""`Subset`: the training, validation or test part of a split."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch

from graphtrial.core.errors import GraphTrialError
from graphtrial.datasets.base import SplitLevel
from graphtrial.graphs import GraphBatch, GraphSet, Loader, to_pyg
from graphtrial.graphs.transductive import NodeLoader, PairLoader

if TYPE_CHECKING:
    from torch_geometric.data import Data


@dataclass(frozen=True, eq=False)
class Subset:
    """Examples of one part of a split: graphs, or the nodes, edges or node pairs of a single graph.

    `indices` [examples] index the graphs, or the rows of `level` of the single graph. A subset of graphs is indexed and
    iterated like a dataset; for the other levels `mask` selects the examples of the graph.
    """

    graphs: GraphSet
    indices: npt.NDArray[np.int64]
    level: SplitLevel = "graph"

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, index: Any) -> GraphBatch | GraphSet:
        self._require_graphs("indexed")
        if isinstance(index, int | np.integer):
            return next(iter(self.graphs[self.indices[index]]))
        return self.graphs[self.indices[index]]

    def __iter__(self) -> Iterator[GraphBatch]:
        self._require_graphs("iterated")
        return (next(iter(self.graphs[index])) for index in self.indices)

    @property
    def mask(self) -> torch.Tensor:
        """Mask of the examples, [graphs], [nodes], [edges] or [pairs]."""
        mask = torch.zeros(self.graphs.size[self.level], dtype=torch.bool)
        mask[torch.from_numpy(np.array(self.indices))] = True
        return mask

    def loader(self, batch_size: int = 32, *, shuffle: bool = False, seed: int = 0) -> Iterable[GraphBatch]:
        """Return a mini-batch loader, which can be iterated once per epoch; with `shuffle` in an order drawn by `seed`.

        For nodes or edges of a single graph the only batch is the whole graph, whose `target_index` are the examples;
        for node pairs it is the whole graph with `batch_size` pairs, and with `shuffle` as many random negatives.
        """
        generator = torch.Generator().manual_seed(seed) if shuffle else None
        if self.level == "graph":
            return Loader(self.graphs, self.indices, batch_size, generator=generator)
        whole = GraphBatch.from_set(self.graphs, np.arange(len(self.graphs)))
        if self.level == "pair":
            return PairLoader(whole, self.graphs, self.indices, batch_size, generator)
        return NodeLoader(whole, self.indices)

    def to_pyg(self) -> list[Data]:
        """Return the graphs as PyG `Data` objects."""
        self._require_graphs("converted")
        return to_pyg(self.graphs[self.indices])

    def __repr__(self) -> str:
        return f"Subset({len(self)} of {self.graphs.size[self.level]} {self.level}s)"

    def _require_graphs(self, action: str) -> None:
        if self.level != "graph":
            raise GraphTrialError(
                f"the examples are {self.level}s of one graph, which cannot be {action} one by one: use `mask`, "
                "`indices` or `loader()`, and `to_pyg()` of the dataset for the graph with masks"
            )
