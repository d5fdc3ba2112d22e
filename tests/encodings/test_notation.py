"""Notation of encodings."""

from __future__ import annotations

from typing import Any

import pytest

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.spec import Component
from graphtrial.encodings.notation import encoding_names, format_encoding, parts_of, short_encoding, split_encodings
from graphtrial.results.titles import encoding_title
from graphtrial.studies.study import parse_encoding


@pytest.mark.parametrize(
    ("text", "short", "title"),
    [
        ("none", "none", ""),
        ("laplacian:20", "laplacian:20", "Laplacian 20"),
        ("laplacian:20,sign=random", "laplacian:20", "Laplacian 20"),
        ("rwse:16", "random-walk:16", "Random walk 16"),
        ("rwse:20+laplacian:8", "random-walk:20+laplacian:8", "RWSE-20 + LapPE-8"),
        (
            "laplacian:8,sign=fixed + random-walk:20",
            "laplacian:8,sign=fixed+random-walk:20",
            "LapPE-8 (fixed sign) + RWSE-20",
        ),
        ("node-order:9+rwse:2", "node-order:9+random-walk:2", "Node order-9 + RWSE-2"),
    ],
)
def test_short_forms_and_titles_are_formatted(text: str, short: str, title: str) -> None:
    encoding = parse_encoding(text)
    assert short_encoding(encoding) == short
    assert encoding_title(encoding) == title
    assert parse_encoding(short) == parse_encoding(format_encoding(encoding)) == encoding


def test_plus_sign_in_a_number_is_not_a_separator() -> None:
    assert split_encodings("mine:1e+5,b=2+rwse:3") == ["mine:1e+5,b=2", "random-walk:3"]
    assert encoding_names("RWSE:3+mine") == ["random-walk", "mine"]


def test_eslappe_is_the_equivariant_laplacian() -> None:
    assert parse_encoding("eslappe:8") == parse_encoding("equivariant-laplacian:8")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rwse:20+rwse:4", "'random-walk' is given twice"),
        ("rwse:20+random-walk:4", "'random-walk' is given twice"),
        ("rwse:20+none", "no encoding is called 'none'"),
        ("combined:2", "no encoding is called 'combined:2'"),
        ("rwse:20+", "a part is empty"),
        ("", "a part is empty"),
        ("rwse:20+LapPE:8", "laplacian-pairs for eigenvectors and eigenvalues"),
        ("rwse:20+laplacia:3", "Did you mean 'laplacian'"),
        ("rwse:20+laplacian", "needs a value for k"),
        ("+".join(f"rwse:{k}" for k in range(1, 30)), "29 encodings are joined"),
    ],
)
def test_invalid_notation_gives_one_line_error(text: str, message: str) -> None:
    with pytest.raises(GraphTrialError, match=message) as raised:
        parse_encoding(text)
    assert len(str(raised.value).splitlines()) == 1


def test_each_part_takes_the_default_of_a_model_without_random_signs() -> None:
    parts = [part for part, _ in parts_of(parse_encoding("laplacian:8+rwse:3", "3wl-gnn"))]
    assert parts == [Component("laplacian", {"k": 8, "sign": "fixed"}), Component("random-walk", {"k": 3})]


@pytest.mark.parametrize(
    "parts", [None, 5, "x", [], [5], [{}], [{"name": ""}], [{"name": "a\nb"}], [{"name": "x", "y": 1}]]
)
def test_invalid_stored_combination_is_shown_unchanged(parts: Any) -> None:
    encoding = Component("combined", {"parts": parts})
    assert parts_of(encoding) == [(encoding, 0)]
    assert short_encoding(encoding).startswith("combined")
    assert encoding_title(encoding).startswith("Combined")
