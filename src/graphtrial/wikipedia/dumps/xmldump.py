"""Streaming reader of `pages-articles` XML dumps, in bounded memory.

The stream is split at `<page>` and `</page>` and each page is parsed by ElementTree, so that a malformed page does not
affect the rest of the dump, and reading can start in the middle of a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from graphtrial.core.progress import Advance
from graphtrial.wikipedia.dumps.streams import TruncatedError, blocks, utf8
from graphtrial.wikipedia.dumps.titles import Namespaces, spaced

LONGEST = 1 << 27
"""Maximum bytes of a page."""
_OPEN, _CLOSE = b"<page>", b"</page>"
_SITE = re.compile(rb"<siteinfo>.*?</siteinfo>", re.DOTALL)


@dataclass(frozen=True)
class Page:
    """A page of a dump; `stream` is the offset of its bz2 stream."""

    id: int
    namespace: int
    title: str
    redirect: str | None
    text: str
    stream: int


@dataclass
class PageCounts:
    """Counts of parsed and broken pages of a dump."""

    pages: int = 0
    broken: int = 0
    truncated: bool = False


def read_site(path: Path) -> Namespaces:
    """Return the namespaces in the siteinfo of a dump; the English ones without siteinfo."""
    head = b""
    try:
        for _, block in utf8(blocks(path, _nothing)):
            head += block
            if b"</siteinfo>" in head or _OPEN in head or len(head) > 1 << 24:
                break
    except TruncatedError:
        pass  # reported when the pages are read
    match = _SITE.search(head)
    if not match:
        return Namespaces()
    try:
        site = ElementTree.fromstring(match[0])
        names = {int(each.get("key", "")): each.text or "" for each in site.iter("namespace")}
    except (ElementTree.ParseError, ValueError):
        return Namespaces()
    return Namespaces(names, site.findtext("case", "first-letter") == "first-letter")


def read_pages(
    path: Path,
    counts: PageCounts,
    advance: Advance,
    *,
    site: Namespaces | None = None,
    streams: Sequence[int] | None = None,
    allow_truncated: bool = False,
) -> Iterator[Page]:
    """Yield the pages of a dump, restricted to the bz2 `streams` of a multistream dump if given."""
    site = site or read_site(path)
    for stream, piece in _pieces(path, counts, advance, streams, allow_truncated):
        page = _page(piece, stream, site)
        if page is None:
            counts.broken += 1
        else:
            counts.pages += 1
            yield page


def _pieces(
    path: Path, counts: PageCounts, advance: Advance, streams: Sequence[int] | None, allow_truncated: bool
) -> Iterator[tuple[int, bytes]]:
    """Yield the bytes of each page element with the offset of its bz2 stream."""
    rest, stream_of_rest = b"", 0
    try:
        for stream, block in utf8(blocks(path, advance, streams)):
            begin = len(rest)  # bytes before it belong to the stream of the previous block
            data, place = rest + block, 0
            while True:
                start = data.find(_OPEN, place)
                if start < 0:
                    tag = data.rfind(b"<", max(place, len(data) - len(_OPEN) + 1))
                    rest = data[tag:] if tag >= 0 and _OPEN.startswith(data[tag:]) else b""
                    break
                end = data.find(_CLOSE, start)
                again = data.find(_OPEN, start + 1, end if end >= 0 else len(data))
                if again >= 0:  # angle brackets in text are escaped, so the previous page is not closed
                    counts.broken += 1
                    place = again
                    continue
                if end < 0:
                    rest = data[start:]
                    break
                place = end + len(_CLOSE)
                yield stream_of_rest if start < begin else stream, data[start:place]
            stream_of_rest = stream_of_rest if len(rest) > len(block) else stream
            if len(rest) > LONGEST:
                counts.broken += 1
                rest = b""
    except TruncatedError:
        if not allow_truncated:
            raise
        counts.truncated = True
    counts.broken += rest.startswith(_OPEN)


def _page(piece: bytes, stream: int, site: Namespaces) -> Page | None:
    try:
        page = ElementTree.fromstring(piece.decode("utf-8", "replace"))
        number = int(page.findtext("id", ""))
        title = page.findtext("title", "")
        namespace = page.findtext("ns")
        redirect = page.find("redirect")
        return Page(
            number,
            site.number_of(title) if namespace is None else int(namespace),
            spaced(title, first_letter=site.first_letter),
            None if redirect is None else redirect.get("title", ""),
            page.findtext("revision/text", "") or "",
            stream,
        )
    except (ElementTree.ParseError, ValueError):
        return None


def _nothing(amount: float = 1.0) -> None:
    """Ignore progress."""
