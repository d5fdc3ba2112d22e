"""The page of known faults in what we compare with."""

from __future__ import annotations

from importlib import resources

from markdown_it import MarkdownIt
from markupsafe import Markup

from graphtrial.report.site import Site


def write(site: Site) -> None:
    """Write the page from the document that is shipped with the package."""
    text = resources.files("graphtrial.report").joinpath("errata.md").read_text(encoding="utf-8")
    site.page("errata.html", "errata.html", text=render(text))


def render(text: str) -> Markup:
    """Return Markdown as HTML; HTML in the text stays text, and links to other documents lose their address."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.validateLink = lambda url: url.startswith(("#", "https://"))  # type: ignore[method-assign]
    return Markup(parser.render(text))
