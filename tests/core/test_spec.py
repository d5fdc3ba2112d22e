"""Identity: equal values have equal texts and hashes; components are read as written."""

from __future__ import annotations

import hashlib
import json
import string
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtrial.core.errors import GraphTrialError, UnknownNameError
from graphtrial.core.signatures import declared_arguments
from graphtrial.core.spec import Component, canonical_json, digest, parse_value, resolve_arguments

patiently = settings(deadline=None)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


class Laplacian:
    def __init__(self, k: int, sign: str = "random") -> None: ...


class NoArguments:
    pass


def constructor(name: str) -> type:
    return {"laplacian": Laplacian, "none": NoArguments}[name]


@patiently
@given(JSON)
def test_canonical_text_is_json_of_the_value(value: Any) -> None:
    assert json.loads(canonical_json(value)) == value
    assert canonical_json(json.loads(canonical_json(value))) == canonical_json(value)


@patiently
@given(st.dictionaries(st.text(), st.integers(), min_size=2))
def test_order_of_keys_does_not_matter(value: dict[str, int]) -> None:
    assert digest(dict(reversed(value.items()))) == digest(value)


def test_digest_is_the_sha256_of_the_text() -> None:
    assert digest({"b": [1, 2.5, None], "a": "é"}) == hashlib.sha256('{"a":"é","b":[1,2.5,null]}'.encode()).hexdigest()


def test_dataclass_is_serialised_by_its_fields() -> None:
    @dataclass(frozen=True)
    class Point:
        x: int
        y: int

    assert canonical_json(Point(1, 2)) == '{"x":1,"y":2}'
    assert digest(Component("laplacian", {"k": 2})) == digest({"name": "laplacian", "arguments": {"k": 2}})


def test_non_finite_numbers_raise() -> None:
    for value in (float("nan"), float("inf")):
        with pytest.raises(ValueError):
            digest({"x": value})


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("laplacian:20", {"k": 20}),
        ("laplacian:20,fixed", {"k": 20, "sign": "fixed"}),
        ("laplacian:20,sign=fixed", {"k": 20, "sign": "fixed"}),
        ("laplacian:sign=fixed,k=20", {"k": 20, "sign": "fixed"}),
        ("laplacian: k = 20 , sign = fixed", {"k": 20, "sign": "fixed"}),
        ("none", {}),
    ],
)
def test_components_are_parsed(text: str, arguments: dict[str, Any]) -> None:
    component = Component.parse(text, constructor)
    assert component == Component(text.partition(":")[0], arguments)
    assert Component.parse(str(component), constructor) == component


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("laplacian", "'laplacian' needs a value for k"),
        ("laplacian:20,signs=fixed", "has no setting 'signs'. Did you mean 'sign'? Known settings: k, sign."),
        ("laplacian:20,fixed,3", "takes no argument for '3'"),
        ("none:20", "takes no argument for '20'"),
        ("laplacian:20,k=30", "'k' is given twice"),
        ("laplacian:sign=fixed,20", "'sign' is given twice"),
    ],
)
def test_invalid_components_raise(text: str, message: str) -> None:
    with pytest.raises(GraphTrialError) as caught:
        Component.parse(text, constructor)
    assert message in str(caught.value)


NAMES = st.text(string.ascii_lowercase, min_size=1).filter(lambda text: text not in ("true", "false"))


@patiently
@given(st.integers(-(2**63) + 1, 2**63 - 1), NAMES.filter(lambda text: isinstance(parse_value(text), str)))
def test_component_round_trips(k: int, sign: str) -> None:
    component = Component("laplacian", {"k": k, "sign": sign})
    assert Component.parse(str(component), constructor) == component


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("20", 20),
        ("-3", -3),
        ("1e-3", 0.001),
        ("2.0", 2.0),
        ("true", True),
        ("False", False),
        ("mean", "mean"),
        ("nan", "nan"),
        ("inf", "inf"),
        ("", ""),
        pytest.param("9" * 400, int("9" * 400), id="huge"),
        ("1e999", "1e999"),
    ],
)
def test_command_line_values_are_parsed(text: str, value: Any) -> None:
    read = parse_value(text)
    assert read == value
    assert type(read) is type(value)


@patiently
@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.booleans())
def test_numbers_round_trip(value: Any) -> None:
    assert parse_value(str(value)) == value


def test_arguments_are_completed_by_defaults() -> None:
    def build(graph: object, /, width: int, *, dropout: float = 0.5, **more: int) -> None: ...

    assert list(declared_arguments(build)) == ["width", "dropout"]
    assert resolve_arguments(build, {"width": 3}, "gcn") == {"width": 3, "dropout": 0.5}
    with pytest.raises(UnknownNameError, match=r"gcn has no setting 'widht'\. Did you mean 'width'\?"):
        resolve_arguments(build, {"widht": 3}, "gcn")
    with pytest.raises(GraphTrialError, match="gcn needs a value for width"):
        resolve_arguments(build, {}, "gcn")
