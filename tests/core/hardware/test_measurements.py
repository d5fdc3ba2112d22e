"""Cached measurements: what is damaged, changed or of another form is measured again, without an error."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphtrial.core.hardware.measurements import read_measurement, write_measurement
from graphtrial.core.spec import digest

VALUES = {"seconds": 1.5, "source": "here"}


def test_what_is_written_is_read(tmp_path: Path) -> None:
    write_measurement(tmp_path / "new" / "one.json", VALUES)
    assert read_measurement(tmp_path / "new" / "one.json", set(VALUES)) == VALUES


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", "{}", "null", "1e999", '{"seconds": NaN}', "\0"),
        json.dumps(VALUES),
        json.dumps({**VALUES, "seconds": 2.5, "digest": digest(VALUES)}),
        json.dumps({**VALUES, "digest": None}),
        json.dumps({"seconds": 1.5, "digest": digest({"seconds": 1.5})}),
        json.dumps({**VALUES, "more": 1, "digest": digest({**VALUES, "more": 1})}),
    ],
)
def test_what_is_damaged_is_not_read(text: str, tmp_path: Path) -> None:
    file = tmp_path / "one.json"
    file.write_text(text)
    assert read_measurement(file, set(VALUES)) is None


def test_what_cannot_be_read_is_not_there(tmp_path: Path) -> None:
    assert read_measurement(tmp_path, set(VALUES)) is None
    assert read_measurement(tmp_path / "none.json", set(VALUES)) is None
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\xff")
    assert read_measurement(tmp_path / "bytes.json", set(VALUES)) is None
