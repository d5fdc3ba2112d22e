"""Wikitext parser: categories, links, disambiguation pages, plain text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from graphtrial.wikipedia.dumps.parquet import library
from graphtrial.wikipedia.dumps.titles import Namespaces, spaced, underscored

_HIDDEN = re.compile(r"<!--.*?(?:-->|\Z)|<nowiki\s*>.*?</nowiki\s*>", re.DOTALL | re.IGNORECASE)
_LINK = re.compile(r"\[\[([^\[\]{}|<>\n]+)(?=\||\]\])")
_SWITCH = re.compile(r"__[A-Z]+__")
DISAMBIGUATION = ("disambig", "disambiguation")
"""Templates of disambiguation pages, which the text extractor of Wiki-CS skips."""


NON_TEXT_TAGS = frozenset(
    (
        *("ref", "references", "gallery", "timeline", "imagemap", "indicator", "math", "chem", "score"),
        *("source", "syntaxhighlight", "pre", "noinclude"),
    )
)
"""Tags whose content is not running text: footnotes, images, formulas, source code."""


@dataclass(frozen=True)
class Reader:
    """Wikitext parser of one wiki with its local namespace names."""

    site: Namespaces
    disambiguation: Sequence[str] = DISAMBIGUATION

    def name(self, text: str) -> str:
        """Return the normalized name of a category, with spaces."""
        return spaced(text, first_letter=self.site.first_letter)

    def title(self, text: str) -> str:
        """Return the normalized title of an article, with underscores as in the tables."""
        return underscored(text, first_letter=self.site.first_letter)

    def categories(self, text: str) -> list[str]:
        """Return the distinct categories of a page in order of first mention."""
        names = (self.name(name.partition("#")[0]) for name in self._category.findall(visible(text)))
        return list(dict.fromkeys(name for name in names if name))

    def links(self, text: str) -> list[str]:
        """Return the distinct titles of linked articles, with underscores, without section anchors."""
        titles: dict[str, None] = {}
        for link in _LINK.finditer(visible(text)):
            target = link[1].partition("#")[0].strip().removeprefix(":")
            if self.site.number_of(target) == 0:
                title = self.title(target)
                if title:
                    titles[title] = None
        return list(titles)

    def is_disambiguation(self, text: str) -> bool:
        """Return whether a page has a disambiguation template or magic word."""
        return "__DISAMBIG__" in text or bool(self._disambiguation.search(text))

    def plain(self, text: str) -> str:
        """Return the plain text: link texts, lists, tables and headings, without templates and footnotes."""
        code = library("mwparserfromhell").parse(text)
        for link in code.filter_wikilinks(recursive=True):
            target = str(link.title).strip()
            if not target.startswith(":") and self.site.number_of(target) != 0:
                link.title, link.text = "", None
        for tag in code.filter_tags(recursive=True):
            if tag.contents and str(tag.tag).strip().lower() in NON_TEXT_TAGS:
                tag.contents = ""
        stripped: str = code.strip_code(normalize=True, collapse=True)
        return _SWITCH.sub("", stripped)

    @cached_property
    def _category(self) -> re.Pattern[str]:
        names = "|".join(re.escape(name).replace(r"\ ", "[ _]+") for name in self.site.names_of(14))
        return re.compile(rf"\[\[[ _]*(?:{names})[ _]*:([^\[\]{{}}|<>\n]*)(?:\||\]\])", re.IGNORECASE)

    @cached_property
    def _disambiguation(self) -> re.Pattern[str]:
        names = "|".join(map(re.escape, self.disambiguation)) or r"(?!)"
        return re.compile(rf"\{{\{{\s*(?:{names})\s*(?:\||\}}\}})", re.IGNORECASE)


def visible(text: str) -> str:
    """Return wikitext without comments and `<nowiki>` content."""
    return _HIDDEN.sub("", text) if "<" in text else text
