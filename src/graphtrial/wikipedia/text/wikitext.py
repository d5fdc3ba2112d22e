"""What wikitext says: its categories, its links, whether it only tells meanings apart, and its plain text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from graphtrial.wikipedia.dumps.sheets import library
from graphtrial.wikipedia.dumps.titles import Namespaces, spaced, underscored

_HIDDEN = re.compile(r"<!--.*?(?:-->|\Z)|<nowiki\s*>.*?</nowiki\s*>", re.DOTALL | re.IGNORECASE)
_LINK = re.compile(r"\[\[([^\[\]{}|<>\n]+)(?=\||\]\])")
_SWITCH = re.compile(r"__[A-Z]+__")
DISAMBIGUATION = ("disambig", "disambiguation")
"""Templates of pages that only tell the meanings of a word apart, which the text extractor of Wiki-CS leaves out."""


UNREAD = frozenset(
    (
        *("ref", "references", "gallery", "timeline", "imagemap", "indicator", "math", "chem", "score"),
        *("source", "syntaxhighlight", "pre", "noinclude"),
    )
)
"""Elements whose content is no running text: notes, pictures, formulas, programs."""


@dataclass(frozen=True)
class Reader:
    """Reads the wikitext of one wiki, whose names for namespaces it knows."""

    site: Namespaces
    disambiguation: Sequence[str] = DISAMBIGUATION

    def name(self, text: str) -> str:
        """Return the name of a category as this wiki writes it, with spaces."""
        return spaced(text, first_letter=self.site.first_letter)

    def title(self, text: str) -> str:
        """Return the title of an article as the tables of this wiki write it, with underscores."""
        return underscored(text, first_letter=self.site.first_letter)

    def categories(self, text: str) -> list[str]:
        """Return the categories of a page in the order of their first mention, each once."""
        found = (self.name(name.partition("#")[0]) for name in self._category.findall(visible(text)))
        return list(dict.fromkeys(name for name in found if name))

    def links(self, text: str) -> list[str]:
        """Return the titles of the articles that a text links to, each once, with underscores, without sections."""
        titles: dict[str, None] = {}
        for link in _LINK.finditer(visible(text)):
            target = link[1].partition("#")[0].strip().removeprefix(":")
            if self.site.number_of(target) == 0:
                title = self.title(target)
                if title:
                    titles[title] = None
        return list(titles)

    def is_disambiguation(self, text: str) -> bool:
        """Say whether a page has one of the templates, or the magic word, of pages that tell meanings apart."""
        return "__DISAMBIG__" in text or bool(self._disambiguation.search(text))

    def plain(self, text: str) -> str:
        """Return the text that a reader sees: link texts, lists, tables and headings stay, templates and notes go."""
        code = library("mwparserfromhell").parse(text)
        for link in code.filter_wikilinks(recursive=True):
            target = str(link.title).strip()
            if not target.startswith(":") and self.site.number_of(target) != 0:
                link.title, link.text = "", None
        for tag in code.filter_tags(recursive=True):
            if tag.contents and str(tag.tag).strip().lower() in UNREAD:
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
    """Return wikitext without comments and without what `<nowiki>` takes out of force."""
    return _HIDDEN.sub("", text) if "<" in text else text
