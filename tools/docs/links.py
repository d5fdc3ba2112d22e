"""Links between Markdown pages: those of the repository become those of the site."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping

LINK = re.compile(r"(?P<mark>!?)\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<target>[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")
BADGE = re.compile(r"\[(other data|changed rules|old version)\](?!\()")
TUTORIAL = re.compile(r"^(tutorials/[\w-]+)\.py$")
FENCE = re.compile(r"^(```.*?^```)$", re.MULTILINE | re.DOTALL)


def on_site(markdown: str, source: str, page: str, outside: Mapping[str, str]) -> str:
    """Return a page with the links as the site needs them.

    `source` is the path of the file in the repository and `page` that below `docs/`; `outside` maps files outside
    `docs/` to their pages. A link to a file that has no page, such as a test, becomes its text and path. Badges in
    brackets stay text where two of them would read as a reference.
    """

    def rewritten(link: re.Match[str]) -> str:
        if "://" in link["target"] or link["target"].startswith("mailto:"):
            return link[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), link["target"]))
        target = outside.get(path) or (path.removeprefix("docs/") if path.startswith("docs/") else "")
        target = TUTORIAL.sub(r"\1.md", target)
        if not target or posixpath.splitext(target)[1] in ("", ".py"):
            return f"`{path}`" if link["text"] == path else f"{link['text']} (`{path}`)"
        relative = posixpath.relpath(target, posixpath.dirname(page) or ".")
        text = LINK.sub(rewritten, link["text"])  # a picture that is a link
        return f"{link['mark']}[{text}]({relative}{link['anchor'] or ''})"

    parts = FENCE.split(markdown)
    return "".join(
        part if part.startswith("```") else BADGE.sub(r"\\[\1\\]", LINK.sub(rewritten, part)) for part in parts
    )
