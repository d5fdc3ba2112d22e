"""XML dumps: multistream, other encodings, damaged pages."""

from __future__ import annotations

import bz2
import re
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphtrial.core.errors import CorruptFileError
from graphtrial.wikipedia.dumps import streams
from graphtrial.wikipedia.dumps.titles import Namespaces
from graphtrial.wikipedia.dumps.xmldump import Page, PageCounts, read_pages, read_site

ENGLISH = "enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2"
BULGARIAN = "bgwiki-latest-pages-articles-shortened.xml.bz2"


def read(path: Path, **options: Any) -> tuple[list[Page], PageCounts]:
    counts = PageCounts()
    return list(read_pages(path, counts, lambda amount=1.0: None, **options)), counts


def page(number: int, title: str, text: str, namespace: str = "<ns>0</ns>") -> str:
    return (
        f"<page><title>{escape(title)}</title>{namespace}<id>{number}</id><revision><id>7</id>"
        f"<text>{escape(text)}</text></revision></page>\n"
    )


@pytest.mark.slow
def test_pages_of_the_english_sample_match_a_naive_parser(mirror: Path) -> None:
    path = mirror / "wiki_samples" / ENGLISH
    text = bz2.decompress(path.read_bytes()).decode()
    pages, counts = read(path)
    titles = re.findall(r"<page>\s*<title>([^<]*)</title>", text)
    assert [page.title for page in pages] == [title.replace("&amp;", "&") for title in titles]
    assert [page.id for page in pages] == [int(number) for number in re.findall(r"</ns>\s*<id>(\d+)</id>", text)]
    assert sum(page.redirect is not None for page in pages) == text.count("<redirect ") == 100
    assert (counts.pages, counts.broken) == (206, 0)


def test_dump_in_utf_16_and_another_language_is_read(mirror: Path) -> None:
    path = mirror / "wiki_samples" / BULGARIAN
    site = read_site(path)
    assert site.names_of(14) == ["Категория", "Category"]
    pages, counts = read(path)
    assert pages[0].title == "Григориански календар"
    assert [page.namespace for page in pages] == [0, 4, 4]
    assert counts.broken == 0


def test_dump_without_siteinfo_is_read(mirror: Path) -> None:
    path = mirror / "wiki_samples" / "enwiki-table-markup.xml.bz2"
    assert read_site(path) == Namespaces()
    assert len(read(path)[0]) == 5


texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff"))


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(texts, min_size=1, max_size=12), st.sampled_from([1, 9, 100, 1 << 22]), st.integers(1, 4))
def test_texts_are_read_from_multistream_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, contents: list[str], block: int, per_stream: int
) -> None:
    monkeypatch.setattr(streams, "BLOCK", block)
    path = tmp_path / "pages-articles-multistream.xml.bz2"
    pages = [page(number, f"Title {number}", text) for number, text in enumerate(contents)]
    pieces = ["<mediawiki>"] + ["".join(pages[i : i + per_stream]) for i in range(0, len(pages), per_stream)]
    packed = [bz2.compress(piece.encode()) for piece in [*pieces, "</mediawiki>"]]
    path.write_bytes(b"".join(packed))
    places = [sum(map(len, packed[: 1 + number // per_stream])) for number in range(len(contents))]
    actual, counts = read(path, site=Namespaces())
    assert [(page.id, page.text, page.stream) for page in actual] == [
        (number, text, places[number]) for number, text in enumerate(contents)
    ]
    assert counts.broken == 0
    some = sorted(set(places))[::2]
    chosen, _ = read(path, site=Namespaces(), streams=some)
    assert [page.id for page in chosen] == [number for number, place in enumerate(places) if place in some]


@pytest.mark.parametrize(
    "junk",
    [
        "<page><title>No id</title><ns>0</ns></page>",
        "<page><title>Letters</title><ns>0</ns><id>x</id></page>",
        "<page><title>Unclosed <b></title><ns>0</ns><id>3</id></page>",
        "<page><title>Never ends</title><ns>0</ns><id>3</id>",
        "<page>&undefined;</page>",
        '<page><!DOCTYPE x [<!ENTITY a "b">]></page>',
        "<page>\x00\x01</page>",
    ],
)
def test_broken_pages_are_counted_and_skipped(tmp_path: Path, junk: str) -> None:
    path = tmp_path / "pages-articles.xml"
    path.write_text("<mediawiki>" + page(1, "One", "a") + junk + page(2, "Two", "b") + "</mediawiki>")
    actual, counts = read(path)
    assert [page.id for page in actual] == [1, 2]
    assert counts.broken == 1


def test_truncated_page_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "pages-articles.xml"
    path.write_text("<mediawiki>" + page(1, "One", "a") + page(2, "Two", "b")[:-20])
    actual, counts = read(path)
    assert [page.id for page in actual] == [1]
    assert counts.broken == 1


def test_truncated_file_raises_unless_allowed(tmp_path: Path) -> None:
    path = tmp_path / "pages-articles-multistream.xml.bz2"
    head = b"".join(bz2.compress(page(number, f"T{number}", "x" * 50).encode()) for number in range(20))
    path.write_bytes(head + bz2.compress(page(20, "Last", "y").encode())[:-9])
    with pytest.raises(CorruptFileError, match="--allow-truncated"):
        read(path)
    actual, counts = read(path, allow_truncated=True)
    assert [page.id for page in actual][:20] == list(range(20))
    assert counts.truncated


def test_missing_namespaces_are_inferred_from_the_prefix(tmp_path: Path) -> None:
    path = tmp_path / "pages-articles.xml"
    titles = ["Category:Things", "Star Trek: Voyager", "category talk:Things", "Plain"]
    path.write_text("".join(page(number, title, "", "") for number, title in enumerate(titles)))
    assert [page.namespace for page in read(path)[0]] == [14, 0, 15, 0]
