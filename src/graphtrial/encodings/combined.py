"""Concatenation of several encodings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from graphtrial.core.arguments import Length
from graphtrial.core.errors import GraphTrialError, short_repr
from graphtrial.core.registry import version_of
from graphtrial.core.signatures import validated
from graphtrial.core.spec import Component, resolve_arguments
from graphtrial.encodings.base import ENCODINGS, Encoding
from graphtrial.encodings.notation import COMBINED, JOINED, stored_part
from graphtrial.graphs import GraphSet

MOST_PARTS = 16


@ENCODINGS.register(COMBINED, title="Combined")
class CombinedEncoding(Encoding):
    r"""Columns of several encodings, concatenated; written `random-walk:20+laplacian:8`.

    .. math:: p_i = \big[p_i^{(1)} \,\|\, p_i^{(2)} \,\|\, \dots\big]

    Each part is an object with its `name`, the `arguments` that are not its defaults and its `version` if that is not
    1. Parts are computed, cached and randomised one by one, in this order.
    """

    name = COMBINED

    @validated
    def __init__(self, parts: Annotated[list[Mapping[str, Any]], Length(2, MOST_PARTS)]) -> None:
        self._parts = tuple(_build(part) for part in parts)
        check_different([part.name for part in self._parts])
        self.width = sum(part.width for part in self._parts)
        self.padding = "nan" if any(part.padding == "nan" for part in self._parts) else "zero"
        kinds = {part.relabelling for part in self._parts}
        self.relabelling = "none" if "none" in kinds else "sign" if "sign" in kinds else "exact"

    @property
    def parts(self) -> tuple[Encoding, ...]:
        return self._parts

    def compute(self, graphs: GraphSet) -> npt.NDArray[np.float32]:
        return np.concatenate([part.compute(graphs) for part in self._parts], axis=1)

    def cache_key(self) -> dict[str, Any]:
        return {"parts": [[part.name, part.version, part.cache_key()] for part in self._parts]}

    def training_view(self, values: Tensor, generator: torch.Generator) -> Tensor:
        columns = values.split([part.width for part in self._parts], dim=1)
        views = [part.training_view(own, generator) for part, own in zip(self._parts, columns, strict=True)]
        return torch.cat(views, dim=1)


def combine(parts: Sequence[Component]) -> Component:
    """Return the encoding of several parts; a single one is itself."""
    if len(parts) == 1:
        return parts[0]
    if len(parts) > MOST_PARTS:
        raise GraphTrialError(f"{len(parts)} encodings are joined by {JOINED}; at most {MOST_PARTS} can be")
    check_different([part.name for part in parts])
    return Component(COMBINED, {"parts": [_stored(part) for part in parts]})


def check_different(names: Sequence[str]) -> None:
    """Raise an error where an encoding is given twice."""
    for name in names:
        if names.count(name) > 1:
            raise GraphTrialError(f"encoding '{name}' is given twice; a combination has each encoding once")


def _stored(part: Component) -> dict[str, Any]:
    version = version_of(ENCODINGS, part.name)
    arguments = {"arguments": part.arguments} if part.arguments else {}
    return {"name": part.name, **arguments, **({"version": version} if version > 1 else {})}


def _build(part: Mapping[str, Any]) -> Encoding:
    stored = stored_part(part)
    if stored is None:
        raise GraphTrialError(
            f"a part of a combined encoding is an object with name, arguments and version, not {short_repr(dict(part))}"
        )
    component, version = stored
    if component.name == COMBINED:
        raise GraphTrialError("a combined encoding has no combined parts; list them all in one")
    kind, now = ENCODINGS.get(component.name), version_of(ENCODINGS, component.name)
    if version != now:
        raise GraphTrialError(f"encoding '{component.name}' has version {now} here, not {version}")
    return kind(**resolve_arguments(kind, component.arguments, f"encoding '{component.name}'"))
