"""Every argument of everything registered has a declared type and range, and an invalid value gives a one-line error.

Components registered later are covered too: an argument without a declared type, or a number without a range,
fails.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Literal, get_args, get_origin

import pytest
from tests.helpers.sampling import chunk

from graphtrial.core.arguments import Range
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.signatures import declared_arguments, declared_hints
from graphtrial.core.spec import canonical_json, resolve_arguments
from graphtrial.datasets.custom.generators import GENERATORS
from graphtrial.encodings import ENCODINGS
from graphtrial.execution.executor import EXECUTORS
from graphtrial.kernels import KERNELS
from graphtrial.metrics import METRICS
from graphtrial.nn import MODELS, Shapes
from graphtrial.nn.budget import parameter_count
from graphtrial.nn.registry import model_settings, resolve_settings, setting_hints, width_step
from graphtrial.svm.rules import FeatureFitRules, KernelFoldRules
from graphtrial.tasks import TASKS
from graphtrial.training import PROTOCOLS
from graphtrial.training.cross_validation import CrossValidation
from graphtrial.training.optim import OPTIMIZERS, SCHEDULES, STOPPING
from graphtrial.trials.kinds import rules_from

NASTY: list[Any] = [
    *(math.nan, math.inf, -math.inf, -1, -0.5, 0, 0.5, 1.5, 1, 1e308, 5e-324, 10**9, 10**400, -(2**63), 1 << 20000),
    *(True, False, None, "", "x", "nan", "0", "\x00", "y" * 5000, "\ud800"),
    *([], [1], [[1]], [math.nan], ["x"], {}, {"a": 1}, (1, 2, 3), b"x", object()),
]
SHAPES = {
    level: Shapes(outputs=outputs, level=level, node_dim=3, edge_dim=2, num_nodes=9, mean_nodes=3.0)  # type: ignore[arg-type]
    for level, outputs in (("graph", 2), ("edge", 2), ("pair", 1))
}


def constructors() -> Iterator[Any]:
    """Everything that a component, a recipe or an option names, with the function that takes its arguments."""
    registries: list[Any] = [ENCODINGS, KERNELS, TASKS, METRICS, OPTIMIZERS, SCHEDULES, STOPPING]
    for registry in registries:
        for name in registry.names():
            yield pytest.param(registry.get(name), id=f"{registry.kind} {name}")
    for name, generator in GENERATORS.items():
        yield pytest.param(generator.function, id=f"generator {name}")
    for name, executor in EXECUTORS.items():
        yield pytest.param(executor, id=f"executor {name}")
    for rules in (KernelFoldRules, FeatureFitRules, CrossValidation):
        yield pytest.param(rules, id=f"rules {rules.__name__}")


def is_one_line(error: GraphTrialError) -> bool:
    """Assert that an error message is one line."""
    assert len(str(error).splitlines()) == 1
    return True


def undeclared(hint: Any) -> str:
    """Return the missing part of a declaration, or None."""
    if get_origin(hint) is Annotated:
        base, *marks = get_args(hint)
        bounded = any(isinstance(mark, Range) for mark in marks)
        return "" if base in (int, float) and bounded else undeclared(base)
    if hint in (bool, str, type(None)) or get_origin(hint) is Literal:
        return ""
    if hint == Mapping[str, Any]:  # a component, whose own constructor declares its arguments
        return ""
    if hint in (int, float):
        return "a number without a Range"
    parts = [part for part in get_args(hint) if part is not Ellipsis]
    return next((lack for lack in map(undeclared, parts) if lack), "") if parts else f"the type {hint!r}"


@pytest.mark.parametrize("constructor", list(constructors()))
def test_every_argument_declares_type_and_range(constructor: Callable[..., Any]) -> None:
    declared, hints = declared_arguments(constructor), declared_hints(constructor)
    for key, parameter in declared.items():
        assert parameter.annotation is not parameter.empty, f"{key} has no declared type"
        assert not undeclared(hints[key]), f"{key} has {undeclared(hints[key])}"


@pytest.mark.parametrize("name", MODELS.names())
def test_every_setting_of_a_model_declares_type_and_range(name: str) -> None:
    for key, hint in setting_hints(name).items():
        assert not undeclared(hint), f"{key} has {undeclared(hint)}"


def _sound(constructor: Callable[..., Any]) -> dict[str, Any]:
    """Return values for arguments without a default."""
    actual: dict[str, Any] = {}
    for key, parameter in declared_arguments(constructor).items():
        if parameter.default is parameter.empty:
            for value in (1, 5, 0.5, "x", True, [1, 1, 1]):
                try:
                    resolve_arguments(constructor, {**actual, key: value}, "it")
                except GraphTrialError as error:
                    if f"{key} of it" in str(error):
                        continue
                actual[key] = value
                break
    return actual


@pytest.mark.parametrize("constructor", list(constructors()))
def test_invalid_argument_gives_one_line_error(constructor: Callable[..., Any]) -> None:
    given, refused = _sound(constructor), 0
    for key in declared_arguments(constructor):
        for value in NASTY:
            try:
                resolved = resolve_arguments(constructor, {**given, key: value}, "it")
            except GraphTrialError as error:
                refused += is_one_line(error)
                continue
            canonical_json(resolved)  # accepted values have an identity
            if isinstance(constructor, type):
                try:
                    constructor(**resolved)
                except GraphTrialError:
                    refused += 1
    assert refused >= 10 * len(declared_arguments(constructor))


@pytest.mark.parametrize("name", MODELS.names())
def test_invalid_model_setting_gives_one_line_error(name: str, request: pytest.FixtureRequest) -> None:
    sound: dict[str, Any] = {"width": 8 * width_step(name, {})} if "width" in model_settings(name) else {}
    refused = accepted = 0
    for key in model_settings(name):
        for value in NASTY:
            try:
                settings = resolve_settings(name, {**sound, key: value})
            except GraphTrialError as error:
                refused += is_one_line(error)
                continue
            canonical_json(settings)
            accepted += 1
            for shapes in chunk([*SHAPES.values()], accepted, len(SHAPES), request):
                try:
                    parameter_count(name, shapes, settings)
                except GraphTrialError:
                    continue
    assert refused >= 20 * len(model_settings(name))


@pytest.mark.parametrize("name", PROTOCOLS.names())
def test_invalid_rule_gives_one_line_error(name: str, request: pytest.FixtureRequest) -> None:
    protocol, first = PROTOCOLS.get(name), PROTOCOLS.names().index(name)
    for number, key in enumerate(protocol.rules.flat(), first):
        for value in chunk(NASTY, number, 12, request):
            try:
                rules = protocol.rules_for("gcn", 4, {key: value})
            except GraphTrialError as error:
                is_one_line(error)
                continue
            assert rules_from(json.loads(canonical_json(rules.to_dict()))) == rules


@pytest.mark.parametrize("key", ["seeds", "schedule.seeds", "stopping.seeds", "optimizer.seeds", "seeds.x", "", "."])
@pytest.mark.parametrize("name", ["bgnn-v5/csl", "wikics/svm", "tudataset/kernel-svm", "tudataset/gnn"])
def test_unknown_rule_gives_one_line_error_for_any_value(name: str, key: str) -> None:
    for value in (*NASTY, "none", None):
        with pytest.raises(GraphTrialError) as refusal:
            PROTOCOLS.get(name).rules_for("gcn", 4, {key: value})
        is_one_line(refusal.value)


@pytest.mark.parametrize(
    "wrong",
    [
        *({"optimizer.lr": value} for value in ("x", math.nan, math.inf, 0, -1, True, None, [1])),
        *({"schedule.patience": value} for value in (-1, 1.5, math.nan, True)),
        *({"batch_size": value} for value in (1.5, 0, True, "8")),
        *({"stopping.max_epochs": value} for value in (True, 0, 2.0)),
        *({"schedule.threshold": value} for value in ("x", -1e-4, math.nan)),
        *({"stopping.max_hours": value} for value in ("x", 0, math.inf)),
    ],
    ids=str,
)
def test_invalid_rules_raise_with_allowed_values(wrong: dict[str, Any]) -> None:
    with pytest.raises(GraphTrialError, match=r"^\w+ of (the training rules|[\w ]+ '\w+') must be .*, not "):
        PROTOCOLS.get("bgnn-v5/csl").rules_for("gcn", 4, wrong)
