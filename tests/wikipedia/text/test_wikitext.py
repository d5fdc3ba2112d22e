"""Titles, categories, links and plain text of articles."""

from __future__ import annotations

import pytest

from graphtrial.wikipedia.dumps.titles import Namespaces, spaced, underscored
from graphtrial.wikipedia.text.wikitext import Reader

FRENCH = Reader(Namespaces({0: "", 6: "Fichier", 14: "Catégorie", 100: "Portail"}))
PLAIN = Reader(Namespaces())


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("  foo__bar ", "Foo bar"),
        ("éa", "Éa"),
        ("e\u0301a", "Éa"),
        ("ßa", "ßa"),
        ("a\u200eb\u00a0c", "Ab c"),
        ("", ""),
    ],
)
def test_titles_are_normalised_like_mediawiki(given: str, expected: str) -> None:
    assert spaced(given) == expected
    assert underscored(given) == expected.replace(" ", "_")
    assert spaced("iPod", first_letter=False) == "iPod"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[Category:Databases]]", ["Databases"]),
        ("[[category: databases_and things |key]] [[CATEGORY:Databases and things]]", ["Databases and things"]),
        ("[[:Category:Databases]] [[Category:]] [[Category:{{PAGENAME}}]]", []),
        ("<!-- [[Category:Hidden]] --> <nowiki>[[Category:Quoted]]</nowiki> [[Category:Seen]]", ["Seen"]),
        ("[[Category:B]][[Category:A]][[Category:B]]", ["B", "A"]),
        ("[[ Category : Spaced ]] [[Category:Broken\n]]", ["Spaced"]),
        ("<!-- never closed [[Category:Hidden]]", []),
    ],
)
def test_categories_are_parsed_from_wikitext(text: str, expected: list[str]) -> None:
    assert PLAIN.categories(text) == expected


def test_local_and_english_namespaces_are_recognised() -> None:
    text = "[[Catégorie:Un]] [[Category:Deux]] [[Kategorie:Drei]]"
    assert FRENCH.categories(text) == ["Un", "Deux"]
    assert FRENCH.links("[[Portail:X]] [[Fichier:a.png|b [[Dedans]]]] [[lien#y|z]]") == ["Dedans", "Lien"]


def test_links_are_article_titles_without_sections() -> None:
    text = "[[A b]] [[a_b#C|d]] [[File:x.png]] [[#here]] [[:Category:K]] [[{{T}}]] <!-- [[Z]] --> [[C: The language]]"
    assert PLAIN.links(text) == ["A_b", "C:_The_language"]


def test_plain_text_is_the_visible_text() -> None:
    text = """'''Bold''' [[Link|text]]<ref name=a>Note</ref>{{Infobox|secret=1}}<math>x^2</math>
[[File:a.png|thumb|Caption]]
== Heading ==
* item [http://a.b two]
{| class=x
! head
|-
| cell
|}
<gallery>a.png|b</gallery>__NOTOC__ &lt;ok&gt; [[Category:Gone]]"""
    actual = PLAIN.plain(text).split()
    assert actual == ["Bold", "text", "Heading", "item", "two", "head", "cell", "<ok>"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{disambiguation}}", True),
        ("x {{ Disambig |geo}}", True),
        ("__DISAMBIG__", True),
        ("{{disambiguation needed}}", False),
        ("disambiguation", False),
    ],
)
def test_disambiguation_pages_are_recognised(text: str, expected: bool) -> None:
    assert PLAIN.is_disambiguation(text) is expected
    assert not Reader(Namespaces(), ()).is_disambiguation("{{disambiguation}}")
