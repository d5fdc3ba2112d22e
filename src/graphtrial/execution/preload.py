"""What the fork server does once, so that each worker process starts within milliseconds."""

import numpy as np
import torch._dynamo  # noqa: F401 - the first optimiser of a process imports it, which takes more than a second

import graphtrial.execution.worker  # noqa: F401
from graphtrial.graphs import GraphBatch, GraphSet
from graphtrial.ops import kernels

kernels.warm_up()
graphs = GraphSet.build([2], [1], np.array([[0], [1]]))
for array in graphs.structure.values():
    array.flags.writeable = False  # as in a memory-mapped set, which is another type to the compiler
GraphBatch.from_set(graphs, [0])
