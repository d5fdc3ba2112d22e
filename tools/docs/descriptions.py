"""Descriptions of pages, as search engines and link previews show them."""

from __future__ import annotations

import html
import re

PARAGRAPH = re.compile(r"<p>(.*?)</p>", re.DOTALL)
SHORTEST, LONGEST = 40, 200


def description(content: str) -> str:
    """Return the first paragraph of a page as text; short ones, such as the link to a notebook, are skipped."""
    for match in PARAGRAPH.finditer(content):
        text = " ".join(html.unescape(re.sub(r"<[^>]*>", "", match[1])).split())
        if len(text) >= SHORTEST:
            return text if len(text) <= LONGEST else text[:LONGEST].rpartition(" ")[0] + " ..."
    return ""
