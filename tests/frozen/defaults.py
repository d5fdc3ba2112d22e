"""Declared defaults of everything that a trial is made of, and the file that they are frozen in.

`python -m tests.frozen.defaults` adds what is new. It never changes an entry: a changed default is a new version.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from graphtrial.core.registry import version_of
from graphtrial.core.signatures import declared_arguments
from graphtrial.core.spec import canonical_json, declared_defaults
from graphtrial.encodings import ENCODINGS
from graphtrial.kernels import KERNELS
from graphtrial.nn import MODELS, model_settings
from graphtrial.svm.rules import FeatureFitRules, KernelFoldRules
from graphtrial.training.cross_validation import CrossValidation
from graphtrial.training.optim import OPTIMIZERS, SCHEDULES, STOPPING
from graphtrial.training.rules import TrainingRules
from graphtrial.trials import TrialSpec

FILE = Path(__file__).parent / "defaults.json"
Entry = dict[str, Any]


def current() -> dict[str, Entry]:
    """Return the declared arguments of everything built in, by kind, name and version."""
    return dict(_entries())


def frozen() -> dict[str, Entry]:
    entries: dict[str, Entry] = json.loads(FILE.read_text(encoding="utf-8"))
    return entries


def _entries() -> Iterator[tuple[str, Entry]]:
    for registry in (ENCODINGS, KERNELS, OPTIMIZERS, SCHEDULES, STOPPING):
        for name in registry.names():  # type: ignore[attr-defined]
            kind = registry.get(name)  # type: ignore[attr-defined]
            yield f"{registry.kind} {name} {version_of(registry, name)}", _arguments(kind)  # type: ignore[attr-defined]
    for name in MODELS.names():
        settings = model_settings(name)
        optional = {key for key, p in declared_arguments(MODELS.get(name)).items() if p.default is not p.empty}
        required = [key for key, value in settings.items() if value is None and key not in optional]
        defaults = {key: value for key, value in settings.items() if key not in required}
        implied = {switch: dict(values) for switch, values in getattr(MODELS.get(name), "implied", {}).items()}
        yield f"model {name} {version_of(MODELS, name)}", _entry(required, defaults, implied)
    for rules in (TrainingRules, KernelFoldRules, FeatureFitRules):
        yield f"rules {rules.__name__} {rules.version}", _arguments(rules)
    yield f"rules CrossValidation {TrainingRules.version}", _arguments(CrossValidation)
    yield "specification TrialSpec 1", _arguments(TrialSpec)


def _arguments(kind: Callable[..., Any]) -> Entry:
    defaults = declared_defaults(kind)
    return _entry([key for key in declared_arguments(kind) if key not in defaults], defaults, {})


def _entry(required: list[str], defaults: dict[str, Any], implied: dict[str, Any]) -> Entry:
    values = {key: str(value) if key == "schedule" else value for key, value in defaults.items()}
    entry: Entry = json.loads(canonical_json({"required": sorted(required), "defaults": values}))
    return {**entry, **({"implied": json.loads(canonical_json(implied))} if implied else {})}


def changes(name: str, before: Entry, now: Entry) -> list[str]:
    """Return in which way an entry contradicts its frozen one; a new argument with a default does not."""
    raised = f"raise the version of {name.rpartition(' ')[0]}"
    actual = [
        f"the default of {key} was {value!r} and is {now['defaults'].get(key, 'gone')!r}: {raised}"
        for key, value in before["defaults"].items()
        if key not in now["defaults"] or now["defaults"][key] != value
    ]
    if before["required"] != now["required"]:
        actual.append(f"the required arguments were {before['required']} and are {now['required']}: {raised}")
    if before.get("implied") != now.get("implied"):
        actual.append(f"the defaults that settings imply were {before.get('implied')}: {raised}")
    return actual


def main() -> None:
    registered = frozen() if FILE.exists() else {}
    for name, entry in current().items():
        if name not in registered:
            registered[name] = entry
        elif not changes(name, registered[name], entry):
            registered[name]["defaults"] |= entry["defaults"]
    text = json.dumps(dict(sorted(registered.items())), indent=1, ensure_ascii=False, sort_keys=True)
    FILE.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
