"""GraphTrial: a fair trial for every graph learning model.

    import graphtrial as gt

    dataset = gt.load("csl")
    model = gt.build("gcn", dataset, width=146, layers=4)
    row = gt.run("csl", "gcn", encoding="laplacian:20", seeds=1)

The names below are public and imported when first used; everything else may change.
"""

from __future__ import annotations

import importlib
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from graphtrial.core.plugins import open_to_plugins

__version__ = version("graphtrial")

_HOMES = {
    "graphtrial.api": ("build", "info", "load", "prepare", "run", "run_study"),
    "graphtrial.datasets": ("DATASETS", "Dataset", "DatasetSpec", "Split"),
    "graphtrial.encodings": ("ENCODINGS", "Encoding"),
    "graphtrial.core.errors": ("GraphTrialError",),
    "graphtrial.graphs": (
        *("Column", "GraphBatch", "GraphSet", "Loader"),
        *("from_networkx", "from_pyg", "to_networkx", "to_pyg"),
    ),
    "graphtrial.metrics": ("METRICS", "Metric"),
    "graphtrial.nn": ("MODELS", "Shapes", "count_parameters"),
    "graphtrial.nn.conv": ("Conv",),
    "graphtrial.nn.encoder": ("EdgeEncoder", "NodeEncoder"),
    "graphtrial.nn.head": ("make_head",),
    "graphtrial.ops": ("aggregate",),
    "graphtrial.core.permissions": ("allow",),
    "graphtrial.core.plugins": ("load_plugin",),
    "graphtrial.studies": ("Row", "Study", "load_study"),
    "graphtrial.tasks": ("TASKS", "Task"),
    "graphtrial.training": ("PROTOCOLS", "Protocol", "TrainingRules"),
    "graphtrial.trials": ("Store", "TrialSpec"),
}
_REGISTRIES = (
    *("nn:MODELS", "encodings:ENCODINGS", "datasets:DATASETS"),
    *("metrics:METRICS", "tasks:TASKS", "training:PROTOCOLS"),
)
for _path in _REGISTRIES:
    open_to_plugins(f"graphtrial.{_path}")
open_to_plugins("graphtrial.kernels:KERNELS", needs="sklearn")

_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = ["__version__", *sorted(_HOME)]

if TYPE_CHECKING:
    from graphtrial.api import build, info, load, prepare, run, run_study
    from graphtrial.core.errors import GraphTrialError
    from graphtrial.core.permissions import allow
    from graphtrial.core.plugins import load_plugin
    from graphtrial.datasets import DATASETS, Dataset, DatasetSpec, Split
    from graphtrial.encodings import ENCODINGS, Encoding
    from graphtrial.graphs import (
        Column,
        GraphBatch,
        GraphSet,
        Loader,
        from_networkx,
        from_pyg,
        to_networkx,
        to_pyg,
    )
    from graphtrial.metrics import METRICS, Metric
    from graphtrial.nn import MODELS, Shapes, count_parameters
    from graphtrial.nn.conv import Conv
    from graphtrial.nn.encoder import EdgeEncoder, NodeEncoder
    from graphtrial.nn.head import make_head
    from graphtrial.ops import aggregate
    from graphtrial.studies import Row, Study, load_study
    from graphtrial.tasks import TASKS, Task
    from graphtrial.training import PROTOCOLS, Protocol
    from graphtrial.training.rules import TrainingRules
    from graphtrial.trials import Store, TrialSpec


def __getattr__(name: str) -> Any:
    # `graphtrial --help` and tab completion must not wait for torch.
    if name not in _HOME:
        raise AttributeError(f"module 'graphtrial' has no attribute '{name}'")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return list(__all__)
