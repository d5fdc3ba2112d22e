"""Base class of the rules of a trial: declared, validated fields; a store has those that differ from their defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeVar

from graphtrial.core.arguments import check_value
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.signatures import check_fields
from graphtrial.core.spec import differing, resolve_arguments

R = TypeVar("R", bound="Rules")


@dataclass(frozen=True)
class Rules:
    """Rules of one kind of trial; part of a trial's identity.

    `version` is raised whenever a default or the meaning of a rule changes. It is stored above 1.
    """

    kind: ClassVar[str | None] = None
    """Name of this kind of rules in a store; empty for those of a training."""
    version: ClassVar[int] = 1
    former: ClassVar[Mapping[int, Mapping[str, Any]]] = {}
    """Defaults of earlier versions that have changed since, by version, so that their trials stay readable."""
    description: ClassVar[str] = "the rules"

    def __post_init__(self) -> None:
        check_fields(self, self.description)

    @classmethod
    def from_dict(cls: type[R], values: Mapping[str, Any]) -> R:
        """Build rules from plain values; an unknown key is an error that names the nearest known one."""
        return cls(**resolve_arguments(cls, without_kind(values, cls.kind), cls.description))

    @classmethod
    def from_stored(cls: type[R], values: Mapping[str, Any]) -> R:
        """Read what `to_dict` wrote."""
        version = check_value(values.get("version", 1), int, f"the version of {cls.description}")
        if version not in (cls.version, *cls.former):
            raise GraphTrialError(f"{cls.description} are of version {version}; this is version {cls.version}")
        then = cls.former.get(version, {}) if version != cls.version else {}
        return cls.from_dict({**then, **{key: value for key, value in values.items() if key != "version"}})

    def to_dict(self) -> dict[str, Any]:
        """Return the rules as plain values, as they enter the identity of a trial: without declared defaults."""
        head: dict[str, Any] = {} if self.kind is None else {"kind": self.kind}
        return {**head, **({"version": self.version} if self.version > 1 else {}), **differing(type(self), self.flat())}

    def changed(self: R, changes: Mapping[str, Any]) -> R:
        """Return the rules with some of them changed, checked as any others."""
        return self.from_dict({**self.flat(), **changes})

    def flat(self) -> dict[str, Any]:
        """Return every rule by the key that changes it."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def summary(self) -> dict[str, Any]:
        """Return the rules that differ from defaults, as people read and write them."""
        return differing(type(self), self.flat())

    def difference(self, other: Rules) -> dict[str, Any]:
        """Return the changes that lead from other rules of the kind to these; `None` removes one."""
        mine, theirs = self.flat(), other.flat()
        differences = {key: value for key, value in mine.items() if key not in theirs or theirs[key] != value}
        return {**differences, **{key: None for key in theirs if key not in mine and key.count(".") < 2}}


def without_kind(values: Mapping[str, Any], kind: str | None) -> dict[str, Any]:
    """Return the values without the key that names their kind."""
    given = check_value(values, dict[str, Any], "the rules of a trial")
    return {key: value for key, value in given.items() if key != "kind" or value != kind}
