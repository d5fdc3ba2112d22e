"""Graphs as flat columns: `GraphSet` on disk, `GraphBatch` in a model, `Loader` between them."""

from graphtrial.graphs.batch import GraphBatch
from graphtrial.graphs.column import Column
from graphtrial.graphs.convert import from_networkx, from_pyg, to_networkx, to_pyg
from graphtrial.graphs.graphset import GraphSet
from graphtrial.graphs.loader import Loader

__all__ = ["Column", "GraphBatch", "GraphSet", "Loader", "from_networkx", "from_pyg", "to_networkx", "to_pyg"]
