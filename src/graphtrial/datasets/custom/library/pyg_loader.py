"""Datasets of PyG by class name; runs in the process of `load` only."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

import torch

from graphtrial.core.errors import GraphTrialError, UnknownNameError, did_you_mean, missing_extra
from graphtrial.graphs import GraphSet, from_pyg
from graphtrial.graphs.links.pyg_pairs import INDEX, LABEL, has_pairs
from graphtrial.graphs.mask_names import NONE, PARTS, parse_mask_name

SET_HERE = {"self", "root", "log", "force_reload", "transform", "pre_transform", "pre_filter", "kwargs"}
"""Parameters of PyG's classes that a name does not set."""
ATTRIBUTES = ("x", "edge_attr", "y", "pos", "edge_weight", "edge_time")
LINKS = (INDEX, LABEL)
UNDIVIDED = {("GNNBenchmarkDataset", "CSL")}
"""Datasets whose class takes a `split`, but returns the same graphs for each."""


def load_pyg(name: str, positional: tuple[Any, ...], keywords: dict[str, Any], root: str, task: str | None) -> GraphSet:
    """Load a dataset of `torch_geometric.datasets`; positional arguments follow the order of its constructor.

    A class with a `split` of "train", "val" and "test" is loaded three times, and these are the parts of the split.
    """
    try:
        from torch_geometric import datasets
    except ImportError:
        raise missing_extra("a dataset of PyG", "PyG", "pyg") from None
    classes = [each for each in datasets.__all__ if inspect.isclass(getattr(datasets, each, None))]
    if name not in classes:
        raise UnknownNameError(f"PyG has no dataset '{name}'.{did_you_mean(name, classes)}")
    kind = getattr(datasets, name)
    arguments = _arguments(kind, positional, keywords)
    given = {"root": root} if "root" in inspect.signature(kind.__init__).parameters else {}
    if _has_parts(kind, arguments):
        parts = {part: list(kind(**given, **arguments, split=part)) for part in ("train", "val", "test")}
        return convert(_Parts(parts), task)
    return convert(kind(**given, **arguments), task)


def convert(dataset: Iterable[Any], task: str | None) -> GraphSet:
    """Convert `Data` objects, with the standard attributes of PyG, masks and the dataset's `get_idx_split()`.

    Labels of a binary classification become floats, which may be missing (NaN).
    """
    items = [_standard(item, number, task) for number, item in enumerate(dataset)]
    masks = {name: parsed[1] for item in items for name in item if (parsed := parse_mask_name(name))}
    incomplete = masks if NONE not in masks.values() and len({*masks.values()}) < NONE else {}
    if incomplete:
        missing = [part for number, part in enumerate(PARTS[:NONE]) if number not in masks.values()]
        print(f"{', '.join(masks)} without a mask of {' and '.join(missing)} is not used")
    for name in (*ATTRIBUTES, *LINKS, *incomplete):
        if name in incomplete or not all(name in item for item in items):
            for item in items:
                item.pop(name, None)
    lookup = getattr(dataset, "get_idx_split", None)
    return from_pyg(_Items(items, lookup))


class _Parts(list[Any]):
    """Graphs of three datasets, with the indices of each part."""

    def __init__(self, parts: dict[str, list[Any]]) -> None:
        super().__init__(item for part in parts.values() for item in part)
        ends = torch.tensor([len(part) for part in parts.values()]).cumsum(0).tolist()
        starts = [0, *ends[:-1]]
        self._split = {part: torch.arange(start, end) for part, start, end in zip(parts, starts, ends, strict=True)}

    def get_idx_split(self) -> dict[str, torch.Tensor]:
        return self._split


class _Items(list[Any]):
    def __init__(self, items: list[_Item], lookup: Any) -> None:
        super().__init__(items)
        self.get_idx_split = lookup


class _Item(dict[str, Any]):
    """Dictionary with the attributes of `Data` that `from_pyg` reads."""

    edge_index: torch.Tensor
    num_nodes: int


def _standard(data: Any, number: int, task: str | None) -> _Item:
    edges = getattr(data, "edge_index", None)
    if not isinstance(edges, torch.Tensor) or not hasattr(data, "num_nodes"):
        kind = type(data).__name__
        raise GraphTrialError(f"item {number} is a {kind} without edge_index; only homogeneous graphs can be imported")
    read = (*ATTRIBUTES, *LINKS) if has_pairs([*data.keys()]) else ATTRIBUTES
    names = [name for name in data.keys() if name in read or parse_mask_name(name)]  # noqa: SIM118
    item = _Item({name: data[name] for name in names if data[name] is not None})
    if "x" not in item and isinstance(data.get("z"), torch.Tensor):
        item["x"] = data.z  # atomic numbers
    if task is not None and "binary-classification" in task and "y" in item:
        item["y"] = item["y"].float()
    item.edge_index, item.num_nodes = edges, int(data.num_nodes)
    return item


def _arguments(kind: Any, positional: tuple[Any, ...], keywords: dict[str, Any]) -> dict[str, Any]:
    parameters = inspect.signature(kind.__init__).parameters
    settable = [name for name in parameters if name not in SET_HERE]
    unknown = [name for name in keywords if name not in settable]
    if unknown or len(positional) > len(settable):
        word = unknown[0] if unknown else positional[len(settable)]
        raise UnknownNameError(
            f"{kind.__name__} has no argument '{word}'.{did_you_mean(str(word), settable)} "
            f"It has: {', '.join(settable) or 'none'}."
        )
    arguments = dict(zip(settable, positional, strict=False)) | keywords
    missing = [name for name in settable if parameters[name].default is inspect.Parameter.empty]
    missing = [name for name in missing if name not in arguments]
    if missing:
        raise GraphTrialError(f"{kind.__name__} needs '{missing[0]}': write pyg:{kind.__name__}/{missing[0].upper()}")
    return arguments


def _has_parts(kind: Any, arguments: dict[str, Any]) -> bool:
    """Return whether the class loads one part at a time, and none was chosen."""
    parameters = inspect.signature(kind.__init__).parameters
    if "train" in parameters and "train" not in arguments and parameters["train"].default is True:
        raise GraphTrialError(
            f"{kind.__name__} has no validation part; choose one, as in pyg:{kind.__name__}/train=true, and let a "
            "split be drawn of it by `graphtrial data import ... --split 0.8/0.1/0.1`"
        )
    undivided = (kind.__name__, arguments.get("name")) in UNDIVIDED
    chosen = "split" not in parameters or "split" in arguments or undivided
    return not chosen and parameters["split"].default in ("train", None)
