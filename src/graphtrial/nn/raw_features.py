"""Raw input features without an encoder: categories one-hot, continuous features as they are."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from graphtrial.core.errors import GraphTrialError
from graphtrial.graphs import GraphBatch
from graphtrial.nn.encoder import encoding_values
from graphtrial.nn.shapes import Shapes


def require_level(name: str, shapes: Shapes, levels: tuple[str, ...]) -> None:
    """Raise an error if the model has no output for the level of the task."""
    if shapes.level not in levels:
        raise GraphTrialError(f"{name} predicts a target for each {' or '.join(levels)}, not for each {shapes.level}")


def raw_node_width(shapes: Shapes) -> int:
    """Return the width of `raw_node_features`."""
    if not _replaced(shapes):
        shapes.require_one_category("this model")
    features = 0 if _replaced(shapes) else shapes.node_types or shapes.node_dim
    if not features + shapes.encoding_dim:
        raise GraphTrialError("these graphs have no node features; give the model a positional encoding or other data")
    return features + shapes.encoding_dim


def raw_node_features(graph: GraphBatch, shapes: Shapes, dtype: torch.dtype) -> Tensor:
    """Return node features, categories one-hot, concatenated with or replaced by the encoding, [nodes, width]."""
    parts = [] if _replaced(shapes) else [_to_float(graph.x, shapes.node_types, dtype)]
    if shapes.encoding_dim:
        parts.append(_to_float(encoding_values(graph), 0, dtype))
    return parts[0] if len(parts) == 1 else torch.cat(parts, dim=1)  # wide features are not copied for every batch


def raw_edge_width(shapes: Shapes, *, use_features: bool) -> int:
    """Return the width of `raw_edge_features`."""
    if use_features and not (shapes.edge_types or shapes.edge_dim):
        raise GraphTrialError("these graphs have no edge features; set edge_features=false to do without")
    return (shapes.edge_types or shapes.edge_dim) if use_features else 1


def raw_edge_features(graph: GraphBatch, shapes: Shapes, dtype: torch.dtype, *, use_features: bool) -> Tensor:
    """Return edge features, categories one-hot, or ones without `use_features`, [edges, width]."""
    if not use_features:
        return torch.ones(graph.num_edges, 1, dtype=dtype, device=graph.edge_index.device)
    return _to_float(graph.edge_attr, shapes.edge_types, dtype)


def _replaced(shapes: Shapes) -> bool:
    return bool(shapes.encoding_dim and shapes.encoding_replaces)


def _to_float(values: Tensor | None, types: int, dtype: torch.dtype) -> Tensor:
    if values is None:
        raise GraphTrialError("the batch lacks the feature column that this model was built for")
    if types:
        rows = values.reshape(len(values)).long()
        if rows.device.type == "cpu":
            return F.one_hot(rows, types).to(dtype)
        return (rows.unsqueeze(1) == torch.arange(types, device=rows.device)).to(dtype)
    return (values.flatten(1) if values.dim() > 1 else values.unsqueeze(1)).to(dtype)
