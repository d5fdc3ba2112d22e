"""XML dump of a synthetic wiki, with matching word vectors and class mapping."""

from __future__ import annotations

import bz2
from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import escape

from graphtrial.core.files import atomic_folder
from graphtrial.core.progress import progress
from graphtrial.datasets.generators.draws import Draws
from graphtrial.wikipedia.synthetic.sql import write_tables
from graphtrial.wikipedia.synthetic.wiki import (
    Wiki,
    category_name,
    chunks,
    parent_of_category,
    target_of_redirect,
    title_of,
)

PAGES_PER_STREAM = 100
_SITE = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en">
  <siteinfo>
    <sitename>Synthetic</sitename>
    <case>first-letter</case>
    <namespaces>
      <namespace key="0" case="first-letter" />
      <namespace key="6" case="first-letter">File</namespace>
      <namespace key="14" case="first-letter">Category</namespace>
    </namespaces>
  </siteinfo>
"""


def write_wiki(wiki: Wiki, folder: Path, dimensions: int = 50) -> None:
    """Write dumps, word vectors (`glove.txt`) and a mapping of classes (`labels.json`) to a new folder.

    Pages are numbered articles first, then redirects, then categories. An article is about a topic, that of its
    categories; most of its links go to articles of the same topic and a fifth of them name a redirect.
    """
    with atomic_folder(folder) as temporary:
        _write_articles(wiki, temporary)
        write_tables(wiki, temporary)
        words = Draws(wiki.seed, 1).uniform(wiki.vocabulary * dimensions).reshape(-1, dimensions) - 0.5
        with (temporary / "glove.txt").open("w", encoding="utf-8") as file:
            for number, row in enumerate(words):
                file.write(f"word{number} {' '.join(f'{value:.5f}' for value in row)}\n")
        names = ", ".join(f'"Topic {t}": ["Topic {t}"]' for t in range(wiki.classes))
        (temporary / "labels.json").write_text(f"{{{names}}}\n", encoding="utf-8")


def _write_articles(wiki: Wiki, folder: Path) -> None:
    path = folder / "synthetic-pages-articles-multistream.xml.bz2"
    with path.open("wb") as file, progress("writing articles", wiki.articles) as advance:
        file.write(bz2.compress(_SITE.encode()))
        pages: list[str] = []
        for page in _xml_pages(wiki):
            pages.append(page)
            if len(pages) == PAGES_PER_STREAM:
                file.write(bz2.compress("".join(pages).encode()))
                advance(len(pages))
                pages.clear()
        file.write(bz2.compress(("".join(pages) + "</mediawiki>\n").encode()))


def _xml_pages(wiki: Wiki) -> Iterator[str]:
    for chunk in chunks(wiki):
        for row in range(len(chunk.words)):
            page = chunk.first + row
            links = [f"[[{title_of(wiki, int(target))}|link]]" for target in chunk.linked[row]]
            words = " ".join(f"word{word}" for word in chunk.words[row])
            inside = "".join(f"[[Category:{category_name(wiki, int(c))}]]\n" for c in chunk.categories[row])
            yield _xml(page + 1, 0, title_of(wiki, page), f"{words}.\n\n{' '.join(links)}\n\n{inside}")
    for redirect in range(wiki.redirects):
        target = title_of(wiki, target_of_redirect(wiki, redirect))
        page = wiki.articles + redirect
        yield _xml(page + 1, 0, title_of(wiki, page), f"#REDIRECT [[{target}]]", target)
    for category in range(wiki.categories):
        above = category_name(wiki, parent_of_category(wiki, category)) if category else ""
        text = f"[[Category:{above}]]" if above else "The root."
        yield _xml(wiki.articles + wiki.redirects + category + 1, 14, f"Category:{category_name(wiki, category)}", text)


def _xml(number: int, namespace: int, title: str, text: str, redirect: str | None = None) -> str:
    leads = f'    <redirect title="{escape(redirect, {chr(34): "&quot;"})}" />\n' if redirect else ""
    return (
        f"  <page>\n    <title>{escape(title)}</title>\n    <ns>{namespace}</ns>\n    <id>{number}</id>\n{leads}"
        f"    <revision>\n      <id>{number}</id>\n"
        f'      <text bytes="{len(text)}" xml:space="preserve">{escape(text)}</text>\n    </revision>\n  </page>\n'
    )
