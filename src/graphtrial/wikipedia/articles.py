"""Article stage: one pass over an XML dump for its pages and their category links."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graphtrial.core.progress import progress
from graphtrial.wikipedia.dumps.parquet import RowWriter
from graphtrial.wikipedia.dumps.tables import ARTICLE, CATEGORY
from graphtrial.wikipedia.dumps.xmldump import PageCounts, read_pages, read_site
from graphtrial.wikipedia.text.wikitext import Reader

PAGES = {"id": "int64", "namespace": "int32", "title": "large_string", "redirect": "large_string", "stream": "int64"}
MENTIONS = {"page": "int64", "child": "large_string", "category": "large_string"}


def read_articles(path: Path, folder: Path, *, allow_truncated: bool = False) -> dict[str, Any]:
    """Write `pages.parquet` and `mentions.parquet`; return the report.

    Pages: id, namespace (articles and categories only), title with underscores, redirect target or NULL, offset of the
    bz2 stream. Mentions: (page, category) of an article, or (child, category) of a subcategory; a category page also
    has a row (child, NULL), so that it gets an index even without a parent.
    """
    site, counts = read_site(path), PageCounts()
    reader = Reader(site)
    page_counts = {ARTICLE: 0, CATEGORY: 0}
    with (
        progress(f"reading {path.name}", path.stat().st_size) as advance,
        RowWriter(folder / "pages.parquet", PAGES) as pages,
        RowWriter(folder / "mentions.parquet", MENTIONS) as mentions,
    ):
        for page in read_pages(path, counts, advance, site=site, allow_truncated=allow_truncated):
            if page.namespace not in page_counts:
                continue
            page_counts[page.namespace] += 1
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
        "articles": page_counts[ARTICLE],
        "categories": page_counts[CATEGORY],
        "broken": counts.broken,
        "truncated": counts.truncated,
        "mentions": mentions.rows,
        "category_names": site.names_of(CATEGORY),
    }


def _article(target: str, reader: Reader) -> str:
    """Return the title of a redirect target, empty if it is not an article."""
    return "" if reader.site.number_of(target) else reader.title(target.partition("#")[0])
