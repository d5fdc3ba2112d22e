"""Base class of positional and structural encodings, and their cache."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from graphtrial.core.cache import cache_folder, cached
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.plugins.imports import registered_name
from graphtrial.core.plugins.origins import origin_digests
from graphtrial.core.registry import Registry, is_subclass
from graphtrial.core.signatures import declared_arguments
from graphtrial.core.spec import Component, declared_defaults, digest
from graphtrial.graphs import Column, GraphSet, storage

ENCODINGS: Registry[type[Encoding]] = Registry(
    "encoding",
    "graphtrial.encodings",
    fits=lambda thing: is_subclass(thing, Encoding) and "+" not in str(getattr(thing, "name", "")),
    wanted="a subclass of graphtrial.Encoding without + in its name, which joins encodings",
    declared=("name",),
)


class Encoding(ABC):
    """Base class of encodings: node features computed from the structure of a graph alone, never from its labels.

    Arguments of the constructor are stored as attributes of the same name.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    """Incremented whenever the values change, so that no stale cache is used."""

    abbreviation: ClassVar[str] = ""
    """The short name in papers, such as `RWSE`; the title by default."""

    padding: Literal["zero", "nan"] = "zero"
    """Padding value of columns that a small graph lacks; models treat NaN as missing, or as zero."""

    relabelling: Literal["exact", "sign", "none"] = "exact"
    """Permutation equivariance: exact, up to the sign of each column (where the structure determines the column), or
    none."""

    unrandomised: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    """Arguments that a model gets by default instead of the declared ones if it takes no randomised encodings."""

    width: int
    """Values per node."""

    @abstractmethod
    def compute(self, graphs: GraphSet) -> npt.NDArray[np.float32]:
        """Return the encoding of every node, [nodes, width]."""

    @property
    def parts(self) -> tuple[Encoding, ...]:
        """The encodings that this one concatenates: itself, unless it is a combination."""
        return (self,)

    def cache_key(self) -> dict[str, Any]:
        """Return the arguments that `compute` depends on."""
        return {"width": self.width}

    def training_view(self, values: Tensor, generator: torch.Generator) -> Tensor:
        """Return the (possibly randomised) encoding of a training batch; the identity by default."""
        return values


def encoding_settings(encoding: Component) -> dict[str, Any]:
    """Return all arguments of an encoding, declared defaults included where it is registered here."""
    if encoding.name not in ENCODINGS:
        return encoding.arguments
    kind = ENCODINGS.get(encoding.name)
    arguments = declared_defaults(kind) | encoding.arguments
    return {name: arguments[name] for name in declared_arguments(kind) if name in arguments} | encoding.arguments


def encoding_text(encoding: str | type[Encoding] | Encoding) -> str:
    """Return an encoding as text: a text as it is, a class by its name, an instance with all of its arguments."""
    if not isinstance(encoding, Encoding):
        return registered_name(ENCODINGS, encoding)
    if encoding.parts != (encoding,):
        return "+".join(encoding_text(part) for part in encoding.parts)
    name = registered_name(ENCODINGS, type(encoding))
    missing = [key for key in declared_arguments(type(encoding)) if not hasattr(encoding, key)]
    if missing:
        raise GraphTrialError(f"encoding '{name}' does not store its argument '{missing[0]}'; give it as text")
    return str(Component(name, {key: getattr(encoding, key) for key in declared_arguments(type(encoding))}))


def encode(graphs: GraphSet, encoding: Encoding, column: str) -> GraphSet:
    """Return the set with the encoding as a node column; each part is computed once per content and cached."""
    values = [_cached_values(graphs, part) for part in encoding.parts]
    meaning = f"{' + '.join(part.name for part in encoding.parts)} encoding"
    joined = values[0] if len(values) == 1 else np.concatenate(values, axis=1)
    return graphs.with_column(column, Column(joined, "node", meaning, missing=encoding.padding == "nan"))


def _cached_values(graphs: GraphSet, encoding: Encoding) -> npt.NDArray[np.float32]:
    facts = [graphs.content_hash, encoding.name, encoding.version, encoding.cache_key()]
    origin = origin_digests(type(encoding))  # the version of a plug-in's encoding is the content of its files
    key = digest([*facts, origin] if origin else facts)
    folder = cache_folder("encodings", encoding.name, key)

    def make() -> None:
        storage.save(folder, {"values": encoding.compute(graphs)}, {"encoding": encoding.name})

    def read() -> npt.NDArray[np.float32]:
        return storage.load(folder)[0]["values"]

    return cached(folder, make, read)
