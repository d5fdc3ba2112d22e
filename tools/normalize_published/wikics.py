"""Models and datasets of the rows of "Wiki-CS" (arXiv:2007.02901)."""

from __future__ import annotations

from graphtrial.datasets import DATASETS
from graphtrial.datasets.base import published_name
from tools.normalize_published.identity import Identity
from tools.normalize_published.raw import PrintedRow

MODELS = {
    "SVM": "svm",
    "MLP": "mlp-direct",
    "GCN": "gcn-direct",
    "GAT": "gat-direct",
    "APPNP": "appnp",
    "VGAE": "vgae",
    "GraphStar": "graphstar",
}
TASKS = {2: "", 3: "+links", 4: "+links-10000"}
"""The task of each table, as the names of datasets end: node classification, link prediction, with few links."""


def identify(row: PrintedRow) -> Identity:
    """Return the datasets and the model of a printed row; settings are not compared."""
    names = sorted(name for name in DATASETS.names() if published_name(name) == "wikics")
    return Identity(
        tuple(name + TASKS[row.table] for name in names), ((MODELS[row.model], {}),), source="the paper's text"
    )
