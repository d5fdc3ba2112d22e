"""Identifiers use the established terms of the field: words that paraphrase one are banned."""

from __future__ import annotations

import ast
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
