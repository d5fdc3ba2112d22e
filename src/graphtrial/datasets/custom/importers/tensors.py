"""Importer of torch files: a list of graphs, each a dictionary of tensors with PyG's names.

torch.save([data.to_dict() for data in dataset], "graphs.pt")

A split of the dataset is included as {"graphs": [...], "split": {"train": ids, "val": ids, "test": ids}}.
"""

from __future__ import annotations

import pickle
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from graphtrial.core.errors import CorruptFileError, InvalidGraphError
from graphtrial.datasets.custom.importers import check_size, reason
from graphtrial.graphs import Column, GraphSet, from_pyg
from graphtrial.io.archive import is_zip

# Exceptions of torch.load on corrupt files.
DAMAGE = (
    *(RuntimeError, ValueError, EOFError, OSError, KeyError, TypeError, IndexError, AttributeError),
    *(struct.error, OverflowError, AssertionError, MemoryError),
)
READABLE = {
    *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
    *(torch.float16, torch.float32, torch.float64),
}
MOST_EXPANDED = 1 << 24
ADVICE = (
    "save plain tensors, torch.save([data.to_dict() for data in dataset], 'graphs.pt'), "
    "or in Python call graphtrial.datasets.custom.import_graphs(name, graphtrial.from_pyg(dataset))"
)


def read(paths: list[Path]) -> GraphSet:
    """Read a list of dictionaries of tensors with `weights_only`; other objects are never constructed."""
    (path,) = paths
    if not is_zip(path):  # the format before torch 1.6 is a bare pickle
        raise CorruptFileError(f"{path.name} is not a torch file of version 1.6 or later; {ADVICE}")
    try:
        items = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise CorruptFileError(f"{path.name} holds more than tensors and was not read; {ADVICE}") from error
    except DAMAGE as error:
        raise CorruptFileError(f"{path.name} is not an intact torch file: {reason(error)}") from error
    split = None
    if isinstance(items, dict) and items.keys() == {"graphs", "split"}:
        items, split = items["graphs"], items["split"]
        if not isinstance(split, dict):
            raise CorruptFileError(f"{path.name}: 'split' must be a dictionary of lists of ids by part")
    if not isinstance(items, list) or not items:
        raise CorruptFileError(f"{path.name} must hold a list of graphs, not {type(items).__name__}; {ADVICE}")
    try:
        graphs = from_pyg(_Items(split, (_Item(path.name, number, item) for number, item in enumerate(items))))
    except InvalidGraphError as error:
        raise CorruptFileError(f"{path.name}: {error}") from error
    return _with_classes(graphs)


class _Items(list["_Item"]):
    """Graphs with the optional split of their dataset, as `from_pyg` expects it."""

    def __init__(self, split: dict[str, Any] | None, items: Iterable[_Item]) -> None:
        super().__init__(items)
        self.get_idx_split = None if split is None else lambda: split


class _Item(dict[str, Any]):
    """Dictionary with the attributes of PyG's `Data` that `from_pyg` reads."""

    def __init__(self, name: str, number: int, item: Any) -> None:
        where = f"{name}, graph {number}"
        if not isinstance(item, dict) or not all(isinstance(key, str) for key in item):
            raise CorruptFileError(f"{where}: a dictionary of tensors was expected; {ADVICE}")
        item = {
            key: _plain(value, f"{where}: '{key}'") if isinstance(value, Tensor) else value
            for key, value in item.items()
        }
        ends = item.get("edge_index")
        if not isinstance(ends, Tensor) or ends.dim() != 2 or ends.shape[0] != 2 or ends.is_floating_point():
            raise CorruptFileError(f"{where}: edge_index must be a tensor of shape [2, edges] of integers")
        nodes = item.get("num_nodes", len(item["x"]) if isinstance(item.get("x"), Tensor) else None)
        if nodes is None:
            nodes = int(ends.max()) + 1 if ends.numel() else 0
        if isinstance(nodes, Tensor) and nodes.numel() == 1:
            nodes = nodes.item()
        if isinstance(nodes, bool) or not isinstance(nodes, int) or nodes < 0:
            raise CorruptFileError(f"{where}: num_nodes must be the number of nodes")
        check_size(nodes, where)
        super().__init__({key: value for key, value in item.items() if key != "num_nodes"})
        self.edge_index, self.num_nodes = ends, nodes


def _plain(value: Tensor, where: str) -> Tensor:
    """Return a dense CPU tensor of a dtype that NumPy supports; raises CorruptFileError for others."""
    strange = value.is_meta or value.is_nested or value.is_quantized or value.layout != torch.strided
    if strange or value.is_complex() or value.device.type != "cpu":
        raise CorruptFileError(f"{where} must be a plain tensor of real numbers")
    if value.numel() > MOST_EXPANDED and value.numel() * value.element_size() > value.untyped_storage().nbytes():
        raise CorruptFileError(f"{where} is expanded to {value.numel():,} numbers that the file does not hold")
    try:
        plain = value.detach().resolve_neg()
        return plain if plain.dtype in READABLE else plain.to(torch.float32)
    except (RuntimeError, TypeError) as error:  # a type of few bits that only some machines compute with
        raise CorruptFileError(f"{where} has the type {value.dtype}: {reason(error)}") from error


def _with_classes(graphs: GraphSet) -> GraphSet:
    """Convert integer targets to classes and add a constant `x` if it is missing."""
    y, x = graphs.columns.get("y"), graphs.columns.get("x")
    if y is not None and y.values.dtype.kind in "iu" and y.width == 1 and (not y.values.size or y.values.min() >= 0):
        flat = y.values.reshape(-1)
        graphs = graphs.with_column("y", Column(flat, y.level, "class", types=int(flat.max(initial=0)) + 1))
    if x is not None and x.types is not None and x.width > 1:  # counts, not categories
        graphs = graphs.with_column("x", Column(x.values.astype("float32"), x.level, x.meaning))
    if x is None:
        ones = Column(torch.ones(graphs.num_nodes).numpy(), "node", "constant, because none was given")
        graphs = graphs.with_column("x", ones)
    return graphs
