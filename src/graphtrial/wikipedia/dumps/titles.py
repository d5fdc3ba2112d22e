"""MediaWiki title normalization and namespaces."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

_SPACES = re.compile(r"[ _\u00a0\u1680\u180e\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
_MARKS = re.compile(r"[\u200e\u200f\u202a-\u202e]")
CANONICAL = {
    **{-2: "Media", -1: "Special", 1: "Talk", 2: "User", 3: "User talk", 4: "Project", 5: "Project talk"},
    **{6: "File", 7: "File talk", 8: "MediaWiki", 9: "MediaWiki talk", 10: "Template", 11: "Template talk"},
    **{12: "Help", 13: "Help talk", 14: "Category", 15: "Category talk"},
}
"""Canonical English namespace names, valid in every wiki."""
IMAGE = "Image"
"""Alias of the namespace `File`."""


def spaced(title: str, *, first_letter: bool = True) -> str:
    """Normalize a title for display: collapsed spaces instead of underscores, first letter capitalised."""
    text = unicodedata.normalize("NFC", _SPACES.sub(" ", _MARKS.sub("", title)).strip())
    upper = text[:1].upper()
    return upper + text[1:] if first_letter and len(upper) == 1 else text


def underscored(title: str, *, first_letter: bool = True) -> str:
    """Normalize a title as in tables and URLs, with underscores (DB key)."""
    return spaced(title, first_letter=first_letter).replace(" ", "_")


@dataclass(frozen=True)
class Namespaces:
    """Local namespace names of a wiki by number, and whether titles are first-letter capitalised."""

    names: Mapping[int, str] = field(default_factory=dict)
    first_letter: bool = True

    def names_of(self, number: int) -> list[str]:
        """Return the names of a namespace, the local one first."""
        extra = [IMAGE] if number == 6 else []
        names = [self.names.get(number, ""), CANONICAL.get(number, ""), *extra]
        return list(dict.fromkeys(name for name in names if name))

    def number_of(self, title: str) -> int:
        """Return the namespace number of a title by its prefix; 0 for an article, also one that contains a colon."""
        prefix, colon, _ = title.partition(":")
        if not colon:
            return 0
        return self._numbers.get(spaced(prefix).casefold(), 0)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        numbers = [number for number in {**CANONICAL, **self.names} if number]
        return {spaced(name).casefold(): number for number in numbers for name in self.names_of(number)}
