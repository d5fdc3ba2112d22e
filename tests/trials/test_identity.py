"""The identity of a trial: frozen ids, frozen defaults, and fields that are added later."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import pytest
from tests.frozen import defaults, specs

from graphtrial.core.arguments import Probability
from graphtrial.core.registry import Registry
from graphtrial.core.spec import Component, canonical_json, differing, digest
from graphtrial.encodings import ENCODINGS, encoding_settings
from graphtrial.nn import MODELS
from graphtrial.shipped import shipped_store
from graphtrial.training.optim import OPTIMIZERS
from graphtrial.training.optim.optimizers.adam import Adam
from graphtrial.training.rules import TrainingRules
from graphtrial.trials import TrialSpec, kinds, trial
from graphtrial.trials.kinds import rules_from
from graphtrial.trials.kinds.training import Training
from graphtrial.trials.store import TrialRecord


@pytest.mark.parametrize("name", specs.frozen())
def test_frozen_specification_has_its_id(name: str) -> None:
    entry = specs.frozen()[name]
    assert digest(entry["spec"])[:16] == entry["id"]
    read = TrialSpec.from_dict(entry["spec"])
    assert (read.id, read.to_dict()) == (entry["id"], entry["spec"])


@pytest.mark.parametrize("name", specs.CASES)
def test_frozen_specification_is_constructed(name: str) -> None:
    frozen, built = specs.frozen()[name], specs.CASES[name].spec()
    assert json.loads(canonical_json(built.to_dict())) == frozen["spec"], "another id: was a default changed?"
    assert built.id == frozen["id"]


def test_twenty_specifications_cover_all_kinds_encodings_and_components() -> None:
    built = [case.spec() for case in specs.CASES.values()]
    assert len(built) >= 20
    assert {type(spec.kind) for spec in built} == set(kinds.KINDS)
    assert {spec.encoding.name for spec in built if spec.encoding} == set(ENCODINGS.names())
    trained = [spec.rules for spec in built if isinstance(spec.rules, TrainingRules)]
    assert {rules.optimizer.name for rules in trained} == set(OPTIMIZERS.names())


@pytest.mark.parametrize("name", defaults.current())
def test_defaults_are_frozen_per_version(name: str) -> None:
    now, frozen = defaults.current()[name], defaults.frozen()
    assert name in frozen, "it is new: `python -m tests.frozen.defaults` records its defaults"
    assert defaults.changes(name, frozen[name], now) == []
    assert now == frozen[name], "it has new arguments: `python -m tests.frozen.defaults` records their defaults"


def test_changed_default_requires_a_new_version() -> None:
    before = {"required": ["k"], "defaults": {"sign": "random"}}
    assert (
        "raise the version of encoding laplacian"
        in defaults.changes("encoding laplacian 2", before, {**before, "defaults": {"sign": "fixed"}})[0]
    )
    assert defaults.changes("x 1", before, {**before, "required": ["k", "j"]})
    assert defaults.changes("x 1", before, {**before, "defaults": {}})
    assert not defaults.changes("x 1", before, {**before, "defaults": {"sign": "random", "later": 3}})


@pytest.fixture(scope="module")
def shipped() -> list[TrialRecord]:
    return shipped_store().trials()


def remade(spec: TrialSpec) -> dict[str, Any]:
    """Rebuild model, encoding and rules from all settings, defaults included, as a study does."""
    settings = {key: value for key, value in spec.settings.items() if key != "output"}
    encoding = spec.encoding
    if encoding is not None:
        encoding = Component(encoding.name, differing(ENCODINGS.get(encoding.name), encoding_settings(encoding)))
    rules = rules_from(spec.rules.to_dict()).changed({})
    return {"model": spec.kind.resolve(Component(spec.model.name, settings)), "encoding": encoding, "rules": rules}


def assert_found_again(shipped: list[TrialRecord], kind: type[TrialSpec] = TrialSpec) -> None:
    assert len(shipped) > 3000
    parts: dict[str, dict[str, Any]] = {}
    for record in shipped:
        spec = kind.from_dict(record.spec.to_dict())
        row = canonical_json(spec.row)
        parts[row] = parts.get(row) or remade(spec)
        assert replace(spec, **parts[row]).id == record.id
    assert len(parts) > 50


def test_shipped_trials_keep_their_ids(shipped: list[TrialRecord]) -> None:
    assert_found_again(shipped)


def test_new_specification_field_changes_no_id(shipped: list[TrialRecord], monkeypatch: pytest.MonkeyPatch) -> None:
    @dataclass(frozen=True)
    class Later(TrialSpec):
        precision: str = "float32"

    monkeypatch.setitem(trial.SPECIFICATION, "precision", lambda value: isinstance(value, str))
    assert_found_again(shipped, Later)
    spec = Later.from_dict(shipped[0].spec.to_dict())
    changed = replace(spec, precision="bfloat16")
    assert changed.id != spec.id
    assert Later.from_dict(changed.to_dict()) == changed


def test_new_rule_changes_no_id(shipped: list[TrialRecord], monkeypatch: pytest.MonkeyPatch) -> None:
    @dataclass(frozen=True)
    class Later(TrainingRules):
        label_smoothing: Probability = 0.0

    monkeypatch.setitem(kinds._RULES, None, Later)
    monkeypatch.setitem(kinds._KIND_OF, Later, Training)
    trial._rules_of.cache_clear()
    try:
        assert_found_again(shipped)
        record = next(record for record in shipped if record.epochs)
        rules = TrialSpec.from_dict(record.spec.to_dict()).rules
        assert rules.flat()["label_smoothing"] == 0.0
        assert replace(rules, label_smoothing=0.1).to_dict()["label_smoothing"] == 0.1
    finally:
        trial._rules_of.cache_clear()


@pytest.fixture
def replaced(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    def put(registry: Registry[Any], name: str, thing: Any) -> None:
        monkeypatch.setitem(registry._things, name, thing)

    trial._rules_of.cache_clear()
    yield put
    trial._rules_of.cache_clear()


def test_new_component_argument_changes_no_id(shipped: list[TrialRecord], replaced: Any) -> None:
    @dataclass(frozen=True)
    class Later(Adam):
        name: ClassVar[str] = "adam"
        maximize: bool = False

    replaced(OPTIMIZERS, "adam", Later)
    assert_found_again(shipped)
    flat = TrialSpec.from_dict(next(r for r in shipped if r.epochs).spec.to_dict()).rules.flat()
    assert flat["optimizer.maximize"] is False


def test_new_model_setting_changes_no_id(shipped: list[TrialRecord], replaced: Any) -> None:
    for name in ("gcn", "gin"):
        base: Any = MODELS.get(name)

        later = type(base.__name__, (base,), {"__init__": _with_bias(base)})
        replaced(MODELS, name, later)
    assert_found_again(shipped)
    record = next(record for record in shipped if record.spec.model.name == "gcn")
    assert TrialSpec.from_dict(record.spec.to_dict()).settings["bias"] is True


def _with_bias(base: Any) -> Any:
    def init(self: Any, width: int, bias: bool = True) -> None:
        base.__init__(self, width)

    return init


def test_specification_fields_are_stored_or_defaults() -> None:
    spec = specs.CASES["plain"].spec()
    assert set(spec.to_dict()) == {"dataset", "data", "split", "model", "protocol", "rules", "seed"}
    assert spec.to_dict()["model"] == {"name": "gcn", "arguments": {"width": 64}}
    assert {f.name for f in fields(TrialSpec)} >= set(spec.to_dict())
