"""Alchemy: quantum chemistry of 202,579 molecules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from graphtrial.datasets.base import DATASETS, Source, Split
from graphtrial.datasets.splits import stratified_split
from graphtrial.datasets.statistics import Statistics
from graphtrial.datasets.targets import standardised_task, target_columns
from graphtrial.datasets.tu.collection import TUDataset, dataset_class
from graphtrial.graphs import GraphSet
from graphtrial.tasks import GraphRegression, Task

TARGETS = 12
RUNS = 5
FRACTIONS = (0.8, 0.1, 0.1)


@DATASETS.register("alchemy", title="Alchemy")
class Alchemy(TUDataset):
    r"""Alchemy, 202,579 organic molecules of up to 14 heavy atoms: regress twelve quantum-chemical properties.

    `alchemy_full` of the TU collection with the features, targets and splits of the TUDataset experiments: element and
    kind of bond, every target standardised over all molecules, so that the mean absolute error is in standard
    deviations; `targets` has them in their own units. Five random splits of 80 / 10 / 10 percent.

    10.1 nodes and 20.9 directed edges on average; x: 6 elements, one-hot; edge_attr: 4 kinds of bond, one-hot;
    y: 12 floats.
    """

    name = "alchemy"
    collection_name = "alchemy_full"
    features = "labels"
    domain = "chemistry"
    task = GraphRegression(targets=TARGETS, metric="mae")
    paper = "Chen et al. 2019 (arXiv:1906.09427); Morris et al. 2020 (arXiv:2007.08663)"
    published = Statistics(graphs=202_579, nodes=10.1, edges=10.4, undirected=True, features=6, binding=False)
    sources = dataset_class("alchemy_full", "").sources
    notes = (
        "The collection publishes no SHA-256 of its archives; that of the first download is pinned (trust on first "
        "use).",
        "Targets are standardised over all molecules, test molecules included, as in the reference: a change of units.",
        "The splits are seeded; the reference drew new ones in each run and recorded none.",
    )
    splits_stratified = False
    large = True

    def parse(self, source: Source, raw: Mapping[str, Path]) -> GraphSet:
        graphs = super().parse(source, raw)
        values = graphs.column("y").values
        for name, column in target_columns(values.reshape(len(graphs), -1), "quantum-chemical properties").items():
            graphs = graphs.with_column(name, column)
        return graphs

    def task_of(self, graphs: GraphSet) -> Task:
        return standardised_task(graphs)

    def split(self, graphs: GraphSet, source: Source, raw: Mapping[str, Path]) -> Sequence[Split]:
        one_class = np.zeros(len(graphs), np.int64)
        return [stratified_split(one_class, FRACTIONS, seed) for seed in range(RUNS)]
