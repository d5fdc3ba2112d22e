"""GraphTrial: a fair trial for every graph learning model.

    import graphtrial as gt

    dataset = gt.load("csl")                                          # or gt.load(gt.datasets.CSL)
    model = gt.build(gt.nn.GCN, dataset, width=146, layers=4)         # or gt.build("gcn", ...)
    row = gt.run("csl", "gcn", encoding="laplacian:20", seeds=1)      # trains, tests, stores
    best = gt.tune("csl", "gcn", budget="20trials", params="100k")    # tunes on validation, tests once
    gt.compare("gcn/laplacian:20", "gin/laplacian:20")                # of the same store
    gt.load_results().to_pandas()
    gt.report()                                                       # a static site

Packages, each with its registered classes as attributes:

    gt.datasets    ZINC, MNIST, PATTERN, MUTAG, ...: metadata and parser; `gt.load` returns the graphs
    gt.nn          GCN, GIN, GatedGCN, ...: whole models; the layers alone are in `gt.nn.conv`
    gt.kernels     WeisfeilerLehman, ShortestPath, ...: scikit-learn estimators
    gt.encodings   LaplacianPE, RandomWalkPE, NodeOrder, ...
    gt.metrics     MAE, Accuracy, ROCAUC, Hits, ...
    gt.tasks       GraphRegression, NodeClassification, LinkPrediction, ...

The names in `dir(graphtrial)` are public and imported on first use; everything else may change.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from graphtrial.core.plugins.registries import open_to_plugins

_HOMES = {
    "graphtrial.api": (
        *("build", "compare", "from_pyg", "info", "load", "load_results"),
        *("prepare", "report", "run", "run_study", "tune"),
    ),
    "graphtrial.datasets": ("DATASETS", "Dataset", "DatasetSpec", "Split"),
    "graphtrial.encodings": ("ENCODINGS", "Encoding"),
    "graphtrial.core.errors": ("GraphTrialError",),
    "graphtrial.graphs": (
        *("Column", "GraphBatch", "GraphSet", "Loader"),
        *("from_networkx", "to_networkx", "to_pyg"),
    ),
    "graphtrial.metrics": ("METRICS", "Metric"),
    "graphtrial.nn": ("MODELS", "Shapes", "count_parameters"),
    "graphtrial.nn.conv": ("Conv",),
    "graphtrial.nn.encoder": ("EdgeEncoder", "NodeEncoder"),
    "graphtrial.nn.head": ("make_head",),
    "graphtrial.ops": ("aggregate",),
    "graphtrial.core.plugins.permissions": ("allow",),
    "graphtrial.core.plugins.loader": ("load_plugin",),
    "graphtrial.studies": ("ModelEntry", "Study", "load_study"),
    "graphtrial.tasks": ("TASKS", "Task"),
    "graphtrial.training": ("PROTOCOLS", "Protocol", "TrainingRules"),
    "graphtrial.trials": ("Store", "TrialSpec"),
}
_REGISTRIES = (
    *("nn:MODELS", "encodings:ENCODINGS", "datasets:DATASETS"),
    *("metrics:METRICS", "tasks:TASKS", "training:PROTOCOLS"),
    *("training.optim:OPTIMIZERS", "training.optim:SCHEDULES", "training.optim:STOPPING"),
)
for _path in _REGISTRIES:
    open_to_plugins(f"graphtrial.{_path}")
open_to_plugins("graphtrial.kernels:KERNELS", needs="sklearn")

_PACKAGES = (
    *("datasets", "encodings", "graphs", "kernels", "metrics", "nn", "ops"),
    *("results", "studies", "tasks", "training"),
)
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = ["__version__", *sorted([*_HOME, *_PACKAGES])]

if TYPE_CHECKING:
    __version__: str
    from graphtrial.api import build, compare, from_pyg, info, load, load_results, prepare, report, run, run_study, tune
    from graphtrial.core.errors import GraphTrialError
    from graphtrial.core.plugins.loader import load_plugin
    from graphtrial.core.plugins.permissions import allow
    from graphtrial.datasets import DATASETS, Dataset, DatasetSpec, Split
    from graphtrial.encodings import ENCODINGS, Encoding
    from graphtrial.graphs import (
        Column,
        GraphBatch,
        GraphSet,
        Loader,
        from_networkx,
        to_networkx,
        to_pyg,
    )
    from graphtrial.metrics import METRICS, Metric
    from graphtrial.nn import MODELS, Shapes, count_parameters
    from graphtrial.nn.conv import Conv
    from graphtrial.nn.encoder import EdgeEncoder, NodeEncoder
    from graphtrial.nn.head import make_head
    from graphtrial.ops import aggregate
    from graphtrial.studies import ModelEntry, Study, load_study
    from graphtrial.tasks import TASKS, Task
    from graphtrial.training import PROTOCOLS, Protocol
    from graphtrial.training.rules import TrainingRules
    from graphtrial.trials import Store, TrialSpec


def __getattr__(name: str) -> Any:
    # `import graphtrial`, `graphtrial --help` and tab completion must not wait for torch.
    if name == "__version__":
        from importlib.metadata import version

        return version("graphtrial")
    if name in _PACKAGES:
        return importlib.import_module(f"graphtrial.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'graphtrial' has no attribute '{name}'")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return list(__all__)
