"""Parameter grids, sampled in the short form so that every value occurs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any, TypeVar

import pytest

T = TypeVar("T")


def rotating(*dimensions: Iterable[Any]) -> list[Any]:
    """Return all combinations; the short form has each of all but the last dimension once, with the last in rotation.

    The other combinations have the mark `long`.
    """
    values = [list(dimension) for dimension in dimensions]
    return [
        pytest.param(
            *(value for _, value in chosen),
            marks=() if sum(place for place, _ in chosen) % len(values[-1]) == 0 else pytest.mark.long,
        )
        for chosen in product(*map(list, map(enumerate, values)))
    ]


def marked_long(values: Iterable[Any], but: Sequence[Any]) -> list[Any]:
    """Return all values; those that are not in `but` have the mark `long`."""
    return [pytest.param(value, marks=() if value in but else pytest.mark.long) for value in values]


def chunk(things: Sequence[T], number: int, parts: int, request: pytest.FixtureRequest) -> list[T]:
    """Return one of `parts` interleaved shares, which rotate with the number of the case; all in the long form."""
    return list(things) if request.config.getoption("--long") else list(things[number % parts :: parts])
