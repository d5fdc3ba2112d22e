"""Errata: known faults of the published results."""

from __future__ import annotations

from importlib import resources

from markdown_it import MarkdownIt
from markupsafe import Markup

from graphtrial.report.site import Site


def write(site: Site) -> None:
    """Write the page from docs/errata.md."""
    text = resources.files("graphtrial.report").joinpath("errata.md").read_text(encoding="utf-8")
    site.page("errata.html", "errata.html", text=render(text))


def render(text: str) -> Markup:
    """Render Markdown as HTML; HTML in the text is escaped, and links to other documents are dropped."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.validateLink = lambda url: url.startswith(("#", "https://"))  # type: ignore[method-assign]
    return Markup(parser.render(text))
