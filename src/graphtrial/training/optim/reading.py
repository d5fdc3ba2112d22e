"""Components from plain values: of a command line, a study file, a protocol, a store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

from graphtrial.core.arguments import check_value
from graphtrial.core.errors import GraphTrialError, short_repr
from graphtrial.core.registry import Registry
from graphtrial.core.signatures import declared_arguments
from graphtrial.core.spec import Component, resolve_arguments
from graphtrial.training.optim.base import STOPPING, RuleComponent, StoppingRule, Unregistered

C = TypeVar("C", bound=RuleComponent)
NONE = "none"
"""Value that removes a rule: neither a command line nor TOML has a null."""


def read_component(registry: Registry[type[C]], value: Any, current: C | None = None) -> C:
    """Return a component from `adam:lr=0.001`, from a table with a name, or from arguments of the `current` one."""
    if isinstance(value, RuleComponent):
        return value  # type: ignore[return-value]
    if isinstance(value, str):
        parsed = Component.parse(value, registry.get)
        return registry.get(parsed.name)(**parsed.arguments)
    if not isinstance(value, Mapping):
        raise GraphTrialError(
            f"the {registry.kind} must be a name with arguments, such as '{next(iter(registry))}', or a table of "
            f"arguments, not {short_repr(value)}"
        )
    given = dict(value)
    name = given.pop("name", None) or (current.name if current is not None else None)
    if name is None:
        raise GraphTrialError(f"the {registry.kind} needs a name: {', '.join(registry)}")
    before = current.arguments if current is not None and "name" not in value else {}
    kind = registry.get(name)
    return kind(**resolve_arguments(kind, {**before, **given}, f"{registry.kind} '{name}'"))


def read_stopping(value: Any, current: tuple[StoppingRule, ...] = ()) -> tuple[StoppingRule, ...]:
    """Return the stopping rules with those of a table changed, added, or removed by `none`, in the order of names.

    A single value is the first argument of a rule: `max_epochs = 100`.
    """
    if isinstance(value, tuple) and all(isinstance(one, StoppingRule) for one in value):
        return tuple(sorted(value, key=lambda rule: rule.name))
    rules = {rule.name: rule for rule in current}
    for name, given in check_value(value, dict[str, Any], "stopping").items():
        if given is None or given == NONE:
            STOPPING.get(name)
            rules.pop(name, None)
            continue
        if not isinstance(given, Mapping):
            given = {fields(STOPPING.get(name))[0].name: given}
        rules[name] = read_component(STOPPING, given if name in rules else {"name": name, **given}, rules.get(name))
    return tuple(rules[name] for name in sorted(rules))


def read_stored(registry: Registry[Any], name: Any, values: Any) -> Any:
    """Return a component of a stored trial; one that is not registered at that version is returned as stored."""
    name = check_value(name, str, f"the name of the {registry.kind}")
    subject = f"{registry.kind} '{name}'"
    given = dict(check_value(values, dict[str, Any], subject))
    arguments = {key: value for key, value in given.items() if key != "version"}
    if name not in registry or registry.get(name).version != given.get("version", 1):
        return Unregistered(name, given)
    kind = registry.get(name)
    if not set(arguments) <= set(declared_arguments(kind)):  # of a later release
        return Unregistered(name, given)
    return kind(**resolve_arguments(kind, arguments, subject))
