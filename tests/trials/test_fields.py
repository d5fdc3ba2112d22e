"""Validation of single values."""

from __future__ import annotations

from dataclasses import fields

import pytest

from graphtrial.core.errors import GraphTrialError
from graphtrial.trials.fields import check_id, is_amount, is_component, is_count, is_name, is_plain, read_object
from graphtrial.trials.trial import SPECIFICATION, TrialSpec


@pytest.mark.parametrize(
    "value",
    [
        "",
        "630a15",
        "../../outside",
        "630a15/../../..",
        "0123456789ABCDEF",
        "0123456789abcdef\n",
        b"0123456789abcdef",
        1,
    ],
)
def test_only_hexadecimal_ids_become_paths(value: object) -> None:
    with pytest.raises(GraphTrialError, match="not the id of a trial"):
        check_id(value)


def test_every_field_of_a_specification_has_a_check() -> None:
    versions = {"model_version", "encoding_version"}  # which are stored with model and encoding
    assert set(SPECIFICATION) == {field.name for field in fields(TrialSpec)} - versions


@pytest.mark.parametrize(
    "text", ["[]", "1", "{", '{"a":NaN}', '{"a":Infinity}', '{"a":' * 5000 + "1" + "}" * 5000, '{"a":1e999}']
)
def test_unbounded_json_raises(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        read_object(text)
    assert read_object('{"a":[1,{"b":null}]}') == {"a": [1, {"b": None}]}


def test_field_types_are_checked() -> None:
    assert is_count(0)
    assert not any(map(is_count, (-1, True, 1.0, "1", None, 2**63)))
    assert is_amount(0.5)
    assert not any(map(is_amount, (-0.5, 1, float("nan"), float("inf"), "1")))
    assert is_name("ZINC/12k <b>")
    assert not any(map(is_name, ("", "a\nb", "\x1b[31m", "x" * 300, 7, None)))
    assert is_plain({"a": [1, 2.5, "x", None, True]})
    assert not any(map(is_plain, ({1: 2}, [float("nan")], object(), {"a": {1}})))
    assert is_component({"name": "gcn", "arguments": {"width": 8}})
    assert is_component({"name": "gcn"})
    assert is_component({"name": "gcn", "version": 2})
    wrong: list[object] = [[], {}, {"arguments": {}}, {"name": "", "arguments": {}}, {"name": "a", "arguments": []}]
    wrong += [{"name": "a", "version": "2"}, {"name": "a", "version": -1}, {"name": "a", "more": 1}]
    assert not any(map(is_component, wrong))
