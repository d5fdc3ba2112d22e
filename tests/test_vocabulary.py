"""Identifiers and prose use the established terms of the field: words that paraphrase one are banned."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BANNED = {
    **dict.fromkeys(("found", "made", "told", "known", "kept", "heard", "said", "says"), "a name for the value"),
    **dict.fromkeys(("asked", "asked_about"), "mask, target_index"),
    **dict.fromkeys(("answer", "answers"), "logits, predictions, outputs"),
    **dict.fromkeys(("share", "shares"), "weight, alpha, prob, fraction"),
    **dict.fromkeys(("judged", "judged_by"), "monitor"),
    **dict.fromkeys(("parcel", "home_again", "away"), "RemoteJob, RemoteResult"),
    **dict.fromkeys(("Ours", "Place", "ours_as"), "MatchedRow, PrintedCell"),
    "turned": "transpose",
    "ahead": "grad_output, forward",
    "further": "extra_metrics",
    "dress": "BlockConfig",
    "together": "vectorized, batched",
    "forecast": "estimate, eta",
    "deviation": "std",
    "what": "subject, description",
}
"""Words that are not used as identifiers, with the established ones."""
EXCEPTIONS = {
    "src/graphtrial/datasets/base.py": {"deviation"},  # how data of another source differ from the published ones
}
"""Files in which a word has another meaning."""
PARAPHRASES = {
    r"nobody|whoever|who asks": "unused, the caller, a process",
    r"today's and tomorrow's": "every registered",
    r"(has|have|had) (no|a) say": "is ignored, affects",
    r"what (is|was) asked|asked about": "mask, target_index",
    r"hears?|heard": "attention, aggregation, messages",
    r"prediction rows|answers of (a|the) (model|network|layer)": "logits, predictions",
    r"(in|into) the dress": "normalisation, residual connection, dropout",
    r"residual links?": "residual or skip connection",
    r"turned (matrix|matrices|edges|graph)": "transpose, reverse edges",
    r"shares? of (the )?(nodes|edges|neighbours|graphs|examples|weights?)": "fraction",
    r"so many times|as many times as many": "the factor",
    r"judged( by)?": "monitor, compared",
    r"further (metrics|scores)": "extra_metrics",
    r"parcels?": "RemoteJob, RemoteResult",
    r"forecasts?": "estimate, eta",
    r"(held|kept) back": "hold-out",
    r"the rate sinks|training ends when": "learning-rate schedule, stopping rule",
    r"warming phase": "warm-up",
    r"saved point|point of return": "checkpoint",
    r"filled up with (zeros|node)": "padding, padded",
    r"mend(s|ed|ing)?": "fix, repair",
    r"anew": "again, rebuild, update",
    r"pretended": "fake",
    r"portable twins?": "portable fallback",
    r"strangers?": "untrusted, unregistered",
}
"""Phrases that are not used in docstrings, comments, messages, documentation and names of tests, with the established
terms."""
ANY_PARAPHRASE = re.compile(rf"\b({'|'.join(PARAPHRASES)})\b", re.IGNORECASE)


def identifiers(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield the names that a file defines: functions, classes, arguments, variables, attributes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, node.lineno


@pytest.mark.parametrize("folder", ["src", "tests", "benchmarks", "tools"])
def test_identifiers_are_established_terms(folder: str) -> None:
    violations = []
    for file in sorted((ROOT / folder).rglob("*.py")):
        path = file.relative_to(ROOT).as_posix()
        allowed = EXCEPTIONS.get(path, set())
        for name, line in identifiers(ast.parse(file.read_text(encoding="utf-8"))):
            word = name.strip("_")
            if word in BANNED and word not in allowed:
                violations.append(f"{path}:{line}: {name}; use {BANNED[word]}")
    assert violations == []


def test_exceptions_are_needed() -> None:
    for path, words in EXCEPTIONS.items():
        names = {name.strip("_") for name, _ in identifiers(ast.parse((ROOT / path).read_text(encoding="utf-8")))}
        assert words <= names, path


def test_every_kind_of_identifier_is_checked() -> None:
    source = "def told(made): ...\nclass Place: ...\nfor found in x: self.kept = 1\nasync def ahead(*, share=1): ..."
    assert {name for name, _ in identifiers(ast.parse(source))} == {
        *("told", "made", "Place", "found", "kept", "ahead", "share")
    }


def prose(source: str, *, strings: bool) -> Iterator[tuple[str, int]]:
    """Yield comments, docstrings and words of test names; with `strings` all string literals, such as messages."""
    tree = ast.parse(source)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string, token.start[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value, node.lineno
        elif strings and isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.value, node.lineno
        elif isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield node.name.replace("_", " "), node.lineno


def paraphrases(text: str) -> list[str]:
    """Return the banned phrases in a text, each with the established term; quoted code is skipped."""
    plain = " ".join(re.sub(r"`[^`]*`", "", text).split())
    if not ANY_PARAPHRASE.search(plain):
        return []
    matches = ((re.search(rf"\b({phrase})\b", plain, re.IGNORECASE), term) for phrase, term in PARAPHRASES.items())
    return [f"{match[0]}; use {term}" for match, term in matches if match]


@pytest.mark.parametrize("folder", ["src", "tests", "benchmarks", "tools", "examples"])
def test_prose_uses_established_terms(folder: str) -> None:
    violations = []
    for file in sorted((ROOT / folder).rglob("*.py")):
        source = file.read_text(encoding="utf-8")
        if file == Path(__file__) or not ANY_PARAPHRASE.search(" ".join(source.replace("_", " ").split())):
            continue  # parsing all files takes seconds
        for text, line in prose(source, strings=folder == "src"):
            violations += [f"{file.relative_to(ROOT)}:{line}: {phrase}" for phrase in paraphrases(text)]
    assert violations == []


@pytest.mark.parametrize("pattern", ["*.md", "docs/*.md", "src/**/*.html", "benchmarks/*.md", "Makefile"])
def test_documentation_uses_established_terms(pattern: str) -> None:
    files = sorted(ROOT.glob(pattern))
    assert files
    violations = []
    for file in files:
        for line, text in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
            violations += [f"{file.relative_to(ROOT)}:{line}: {phrase}" for phrase in paraphrases(text)]
    assert violations == []


def test_every_kind_of_prose_is_checked() -> None:
    source = '"""One."""\nx = "an error message"  # two\n\n\ndef test_of_three(): ...\n'
    assert {text for text, _ in prose(source, strings=True)} == {"One.", "an error message", "# two", "test of three"}
    assert paraphrases("Nobody\nreads it; `nobody` is code") == ["Nobody; use unused, the caller, a process"]
    assert paraphrases("the mask of nodes that are asked\nabout") == ["asked about; use mask, target_index"]
    assert paraphrases("residual connections of a checkpointed training") == []
