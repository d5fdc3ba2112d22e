"""One pass over an XML dump: its pages, and which categories each mentions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graphtrial.core.progress import progress
from graphtrial.wikipedia.dumps.sheets import Rows
from graphtrial.wikipedia.dumps.tables import ARTICLE, CATEGORY
from graphtrial.wikipedia.dumps.xmldump import PageCounts, read_pages, read_site
from graphtrial.wikipedia.text.wikitext import Reader

PAGES = {"id": "int64", "namespace": "int32", "title": "large_string", "redirect": "large_string", "stream": "int64"}
MENTIONS = {"page": "int64", "child": "large_string", "category": "large_string"}


def read_articles(path: Path, folder: Path, *, allow_truncated: bool = False) -> dict[str, Any]:
    """Write `pages.parquet` and `mentions.parquet`; return how many pages there were.

    Of a page: id, namespace (articles and categories only), title with underscores, title of the page it redirects to
    or NULL, place of its bz2 stream. A mention is either a page and a category it is in, or a category (`child`) and a
    category it is in; a category page mentions itself first, so that it has a number even if it is in no other.
    """
    site, counts = read_site(path), PageCounts()
    reader = Reader(site)
    kept = {ARTICLE: 0, CATEGORY: 0}
    with (
        progress(f"reading {path.name}", path.stat().st_size) as advance,
        Rows(folder / "pages.parquet", PAGES) as pages,
        Rows(folder / "mentions.parquet", MENTIONS) as mentions,
    ):
        for page in read_pages(path, counts, advance, site=site, allow_truncated=allow_truncated):
            if page.namespace not in kept:
                continue
            kept[page.namespace] += 1
            title = page.title
            categories = reader.categories(page.text)
            if page.namespace == CATEGORY:
                title = title.partition(":")[2]
                name = reader.name(title)
                mentions.add(None, name, None)
                for category in categories:
                    mentions.add(None, name, category)
            else:
                for category in categories:
                    mentions.add(page.id, None, category)
            redirect = page.redirect if page.redirect is None else _article(page.redirect, reader)
            pages.add(page.id, page.namespace, reader.title(title), redirect, page.stream)
    return {
        "file": path.name,
        "pages": counts.pages,
        "articles": kept[ARTICLE],
        "categories": kept[CATEGORY],
        "broken": counts.broken,
        "truncated": counts.truncated,
        "mentions": mentions.rows,
        "category_names": site.names_of(CATEGORY),
    }


def _article(target: str, reader: Reader) -> str:
    """Return the title that a redirect leads to, nothing if that is no article."""
    return "" if reader.site.number_of(target) else reader.title(target.partition("#")[0])
