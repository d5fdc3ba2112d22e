"""No document contradicts the shipped results."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.shipped.claims import CLAIM, PAGES, NotShippedError, expected, shipped_rows

from graphtrial.shipped import shipped_store

ADVICE = "`python -m tests.shipped.claims` updates the numbers of all pages"
NUMBERS = re.compile(r"(?<!printed )(?<!printed\n)\b\d+\.\d+ (?:± \d|\[\d)")
"""A score with its s.d. or its interval, unless it is a printed one."""
CLAIMS = [(page, claim["key"], claim["claimed"]) for page in PAGES for claim in CLAIM.finditer(page.read_text("utf-8"))]


@pytest.mark.parametrize(("page", "key", "claimed"), CLAIMS, ids=[f"{page.name}: {key}" for page, key, _ in CLAIMS])
def test_claims_match_the_shipped_store(page: Path, key: str, claimed: str) -> None:
    try:
        stored = expected(key)
    except NotShippedError as error:
        pytest.skip(f"{page.name} tells of a result that is not shipped: {error}")
    assert claimed == stored, f"{page.name} contradicts the shipped results ({key}); {ADVICE}"


@pytest.mark.parametrize("name", ["protocols.md", "report.md", "statistics.md", "wikics-experiments.md"])
def test_pages_with_results_have_claims(name: str) -> None:
    assert [key for page, key, _ in CLAIMS if page.name == name]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_score_in_a_page_is_a_claim(page: Path) -> None:
    if page.name == "errata.md":
        pytest.skip("it tells of experiments that are not shipped")
    rest = CLAIM.sub("", page.read_text("utf-8"))
    actual = [rest[max(0, match.start() - 60) : match.end() + 20] for match in NUMBERS.finditer(rest)]
    assert actual == [], "put it between <!--= KEY --> and <!---->, see tests/shipped/claims.py"


def test_trials_that_pages_name_are_shipped() -> None:
    named = re.compile(r"graphtrial (?:show|reproduce) (row-[0-9a-f]+|[0-9a-f]{6,})\b")
    actual = {name for page in PAGES for name in named.findall(page.read_text("utf-8"))}
    assert len(actual) > 1
    rows = {row.id for row in shipped_rows()}
    for name in sorted(actual):
        assert name in rows or shipped_store().find(name), name
