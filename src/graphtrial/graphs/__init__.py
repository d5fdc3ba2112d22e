"""Graphs as flat columns: `GraphSet` on disk, `GraphBatch` in a model, `Loader` between them."""

from graphtrial.graphs.batch import GraphBatch
from graphtrial.graphs.column import Column
from graphtrial.graphs.convert_networkx import from_networkx, to_networkx
from graphtrial.graphs.convert_pyg import from_pyg, to_pyg
from graphtrial.graphs.graphset import GraphSet
from graphtrial.graphs.loader import Loader

__all__ = ["Column", "GraphBatch", "GraphSet", "Loader", "from_networkx", "from_pyg", "to_networkx", "to_pyg"]
