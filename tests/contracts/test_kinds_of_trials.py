"""Kinds of trials are objects: only their own files check the type of rules."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import graphtrial
from graphtrial.core.spec import Component
from graphtrial.training import PROTOCOLS
from graphtrial.trials.kinds import KINDS, kind_of, rules_from

PACKAGE = Path(graphtrial.__file__).parent
OWN_FILES = ("trials/kinds/", "training/", "svm/")
"""Where rules are defined and where kinds of trials handle them."""
RULES = {rules.__name__ for kind in KINDS for rules in kind.rules_types}
CLASSES = RULES | {kind.__name__ for kind in KINDS}
NAMES = {getattr(rules, "kind", None) for kind in KINDS for rules in kind.rules_types} - {None, "folds"}
"""Values of `kind` in the plain form of rules; `folds` is a word of datasets too, and found beside `.kind` alone."""


def type_tests(source: str) -> Iterator[str]:
    """Yield every expression of a module that distinguishes rules or kinds of trials by their type."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            if (node.module or "").startswith("graphtrial") and any(name.name in RULES for name in node.names):
                yield ast.unparse(node)
        elif isinstance(node, ast.Call) and _name(node.func) in ("isinstance", "issubclass"):
            if _mentions(node.args[1], CLASSES) or _is_rules(node.args[0]):
                yield ast.unparse(node)
        elif isinstance(node, ast.Call) and _name(node.func) in ("type", "hasattr", "getattr"):
            if node.args and (_is_rules(node.args[0]) or _is_kind(node.args[0])):
                yield ast.unparse(node)
        elif isinstance(node, ast.Attribute) and node.attr == "__class__":
            if _is_rules(node.value) or _is_kind(node.value):
                yield ast.unparse(node)
        elif isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(_is_kind(side) or _mentions(side, CLASSES) or _has_text(side, NAMES) for side in sides):
                yield ast.unparse(node)
        elif isinstance(node, ast.Match):
            patterns = [each for case in node.cases for each in ast.walk(case.pattern)]
            classes = any(isinstance(each, ast.MatchClass) and _name(each.cls) in CLASSES for each in patterns)
            texts = any(isinstance(each, ast.MatchValue) and _has_text(each.value, NAMES) for each in patterns)
            if classes or texts or _is_rules(node.subject) or _is_kind(node.subject):
                yield ast.unparse(node.subject)


def _name(node: ast.expr) -> str:
    """Return the last part of a dotted name."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _mentions(node: ast.AST, names: set[str]) -> bool:
    return any(isinstance(each, ast.Name | ast.Attribute) and _name(each) in names for each in ast.walk(node))


def _is_rules(node: ast.expr) -> bool:
    return _name(node) == "rules"


def _is_kind(node: ast.expr) -> bool:
    """Whether an expression is the kind of a trial, row or rules: `spec.kind`, `rules.kind`, `values["kind"]`."""
    if isinstance(node, ast.Call):
        return _name(node.func) == "kind_of"
    if isinstance(node, ast.Subscript):
        return _is_rules(node.value) and _has_text(node.slice, {"kind"})
    return isinstance(node, ast.Attribute) and node.attr == "kind" and _name(node.value) in OWNERS


OWNERS = ("rules", "spec", "row", "trial", "protocol")


def _has_text(node: ast.AST, texts: set[str]) -> bool:
    return any(isinstance(each, ast.Constant) and each.value in texts for each in ast.walk(node))


def test_only_trial_kinds_check_the_type_of_rules() -> None:
    actual = {
        path.relative_to(PACKAGE).as_posix(): list(type_tests(path.read_text(encoding="utf-8")))
        for path in sorted(PACKAGE.rglob("*.py"))
        if not path.relative_to(PACKAGE).as_posix().startswith(OWN_FILES)
    }
    assert len(actual) > 200
    public = actual.pop("__init__.py")  # re-exports the class for annotations
    assert public == ["from graphtrial.training.rules import TrainingRules"]
    assert {path: tests for path, tests in actual.items() if tests} == {}


@pytest.mark.parametrize(
    "source",
    [
        "if isinstance(spec.rules, TrainingRules): pass",
        "x = isinstance(each, rules.TrainingRules | KernelFoldRules)",
        "x = isinstance(spec.kind, (Training, int))",
        "x = isinstance(protocol.rules, OTHER)",
        "x = issubclass(kind, FeatureFit)",
        "x = type(trial.rules) is y",
        "x = type(spec.kind).__name__",
        "x = spec.rules.__class__",
        "x = hasattr(row.rules, 'folds')",
        "x = getattr(rules, 'max_hours', 12.0)",
        "x = spec.rules.kind == y",
        "x = trial.spec.kind is y",
        "x = kind_of(rules) == y",
        "x = rules['kind'] == y",
        "x = y == 'kernel-svm'",
        "x = y in ('folds', 'feature-svm')",
        "match spec.rules:\n    case _: pass",
        "match x:\n    case KernelFoldRules(): pass",
        "match x:\n    case 'feature-svm': pass",
        "from graphtrial.training.rules import TrainingRules as T",
        "from graphtrial.svm.rules import KernelFoldRules",
    ],
)
def test_every_form_of_type_check_is_detected(source: str) -> None:
    assert list(type_tests(source))


@pytest.mark.parametrize(
    "source",
    [
        "if spec.kind.has_epochs: pass",
        "x = array.dtype.kind == 'f'",
        "x = verdict.kind == 'differs'",
        "x = isinstance(value, dict)",
        "x = kind_of(protocol.rules).split_count(None)",
        "x = a.rules != b.rules",
        "from graphtrial.training.rules import Rules",
    ],
)
def test_unrelated_code_is_not_detected(source: str) -> None:
    assert not list(type_tests(source))


@pytest.mark.parametrize("name", PROTOCOLS.names())
def test_rules_of_every_protocol_round_trip_through_their_kind(name: str) -> None:
    rules = PROTOCOLS.get(name).rules
    kind = kind_of(rules)
    assert kind.rules is rules
    assert type(rules) in kind.rules_types
    assert rules_from(rules.to_dict()) == rules
    assert kind.max_hours > 0
    assert (kind.expected_epochs is not None) == kind.has_epochs
    assert (kind.estimate_hours(1.0) is not None) == kind.has_epochs
    assert kind.batching.keys() >= {"batch_size"} if kind.has_epochs else not kind.batching


@pytest.mark.parametrize("kind", KINDS)
def test_every_rules_class_has_one_kind(kind: type) -> None:
    others = [other for other in KINDS if other is not kind]
    assert not {rules for other in others for rules in other.rules_types} & set(kind.rules_types)  # type: ignore[attr-defined]


def test_resolved_settings_include_all_arguments() -> None:
    kind = kind_of(PROTOCOLS.get("bgnn-v5/csl").rules)
    resolved = kind.resolve(Component("gcn", {"width": 8}))
    assert kind.settings(resolved)["layers"] == 4
    assert kind.resolve(Component("gcn", kind.settings(resolved))) == resolved
