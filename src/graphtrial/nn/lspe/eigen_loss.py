"""Loss that makes learnt positions eigenvectors of the Laplacian."""

from __future__ import annotations

from torch import Tensor

from graphtrial.graphs import GraphBatch
from graphtrial.ops import aggregate, symmetric_weight


def eigenvector_loss(graph: GraphBatch, q: Tensor) -> Tensor:
    r"""Return :math:`\mathrm{tr}(q^T L q) / (K B n)`, L the normalised Laplacian of the batch.

    K columns, B graphs, n nodes of the batch. The released loss adds a term for orthogonal columns, which is computed
    from detached numbers and has no gradient; it is left out. q: [nodes, K] -> scalar.
    """
    product = q - aggregate(graph, q, "sum", symmetric_weight(graph, q.dtype))
    return (q * product).sum() / max(1, q.shape[1] * graph.num_graphs * graph.num_nodes)
