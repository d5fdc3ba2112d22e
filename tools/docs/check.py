"""Check a built site: every internal link and anchor resolves, and no page loads anything from the network."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADING = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
"""Attributes that make a browser fetch something, by tag."""
NOT_FETCHED = {"canonical", "alternate", "next", "prev"}
FETCH_OF_STYLE = re.compile(r"(?:url\(|@import)\s*['\"]?(https?:)?//[^)'\"]*")


@dataclass
class Page(HTMLParser):
    """Ids, links and loaded addresses of one HTML page."""

    ids: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.ids |= {values[name] for name in ("id", "name") if values.get(name)}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if LOADING.get(tag) in values and values.get("rel") not in NOT_FETCHED:
            self.loads.append(values[LOADING[tag]])


def problems(site: Path, root: str = "/") -> Iterator[str]:
    """Yield one line for each link that leads nowhere and each address that a page would fetch.

    `root` is the path that the site will have on its server, with which the page for missing ones links to others.
    """
    site = site.resolve()
    pages = {path: _read(path) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        shown = path.relative_to(site)
        for address in page.loads:
            if urlsplit(address).netloc:
                yield f"{shown} loads {address}"
        for address in {*page.links, *page.loads}:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            base = site if parts.path.startswith("/") else path.parent
            target = (base / unquote(parts.path).removeprefix(root).lstrip("/")).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                yield f"{shown} links to {address}, which is not there"
            elif target in pages and not _has_anchor(pages[target], unquote(parts.fragment)):
                yield f"{shown} links to {address}, which has no such anchor"
    for path in sorted(site.rglob("*.css")):
        for match in FETCH_OF_STYLE.finditer(path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(site)} loads {match[0]}"


def _has_anchor(page: Page, anchor: str) -> bool:
    return not anchor or anchor in page.ids or anchor.startswith("__")  # the toggles of the theme


def _read(path: Path) -> Page:
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page
