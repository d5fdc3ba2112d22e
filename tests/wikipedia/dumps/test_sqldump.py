"""SQL dumps: round trips, broken rows are counted."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphtrial.core.errors import CorruptFileError
from graphtrial.wikipedia.dumps import sqldump, streams
from graphtrial.wikipedia.dumps.sql_rows import NULL
from graphtrial.wikipedia.dumps.sqldump import Counts, Wanted, read_table

HEAD = b"""-- a dump
CREATE TABLE `t` (
  `a` int(8) NOT NULL,
  `b` varbinary(255),
  `c` double,
  KEY `b` (`b`)
) ENGINE=x;
"""
ESCAPES = {0: b"\\0", 10: b"\\n", 13: b"\\r", 26: b"\\Z", 34: b'\\"', 39: b"\\'", 92: b"\\\\"}


def escaped(text: bytes) -> bytes:
    """Quote bytes as mysqldump does."""
    return b"'" + b"".join(ESCAPES.get(byte, bytes([byte])) for byte in text) + b"'"


def choose(columns: list[str]) -> list[Wanted]:
    assert columns == ["a", "b", "c"]
    return [Wanted("a", "int"), Wanted("b", "text", True)]


def parse(path: Path, data: bytes, **options: Any) -> tuple[list[tuple[int, str]], Counts]:
    """Return the rows of table `t` of a dump with these bytes."""
    path.write_bytes(data)
    counts = Counts()
    rows: list[tuple[int, str]] = []
    for batch in read_table(path, "t", choose, counts, lambda amount=1.0: None, **options):
        rows += zip(batch["a"].tolist(), batch["b"].to_pylist(), strict=True)
    assert counts.rows == len(rows)
    return rows, counts


def body(*rows: bytes) -> bytes:
    return HEAD + b"INSERT INTO `t` VALUES " + b",".join(rows) + b";\n"


row_values = st.tuples(st.integers(-(10**17), 10**17), st.text(st.characters(codec="utf-8"), max_size=30))


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(row_values, min_size=1, max_size=8), max_size=4), st.sampled_from([1, 7, 64, 1 << 22]))
def test_mysqldump_round_trip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, statements: list[list[tuple[int, str]]], block: int
) -> None:
    monkeypatch.setattr(streams, "BLOCK", block)
    data = HEAD
    for rows in statements:
        texts = [b"(%d,%s,0.5)" % (number, escaped(text.encode())) for number, text in rows]
        data += b"INSERT INTO `t` VALUES " + b",".join(texts) + b";\n"
    actual, counts = parse(tmp_path / "t.sql", data)
    assert actual == [row for rows in statements for row in rows]
    assert counts.broken == counts.repaired == 0


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200), st.sampled_from([3, 1 << 22]))
def test_junk_between_rows_is_skipped_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, junk: bytes, block: int
) -> None:
    monkeypatch.setattr(streams, "BLOCK", block)
    data = HEAD + b"INSERT INTO `t` VALUES (1,'x',2),x" + junk + b"\nINSERT INTO `t` VALUES (3,'y',2);\n"
    actual, counts = parse(tmp_path / "t.sql", data)
    assert actual[0] == (1, "x")
    assert actual[-1] == (3, "y")
    assert counts.broken >= 1


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (b"(5,'it''s',1)", (5, "it's")),
        (b"(5,'a\\tb\\bc\\Zd\\0e',1)", (5, "a\tb\bc\x1ad\0e")),
        (rb"(5,'100\%\_\q',1)", (5, r"100\%\_q")),
        (b"(5,'),(6,\\'x\\',1',1)", (5, "),(6,'x',1")),
        (b"(5,NULL,NULL)", (5, "")),
        (b"( 5 , 'x' , null )", (5, "x")),
        (b"('5',_binary 'x',1)", (5, "x")),
        (b"(5,0x4142c3a9,1)", (5, "AB\u00e9")),
        (b"(-5,'',1)", (-5, "")),
        ("(5,'Привет_世界_🙂',1)".encode(), (5, "Привет_世界_🙂")),
    ],
)
@pytest.mark.parametrize("block", [1, 2, 5, 1 << 22])
def test_unusual_rows_are_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: bytes, expected: tuple[int, str], block: int
) -> None:
    monkeypatch.setattr(streams, "BLOCK", block)
    actual, counts = parse(tmp_path / "t.sql", body(b"(1,'before',1)", row, b"(9,'after',1)"))
    assert actual == [(1, "before"), expected, (9, "after")]
    assert counts.broken == 0


@pytest.mark.parametrize(
    "row",
    [
        b"(5,'x')",
        b"(5,'x',1,2)",
        b"(NULL,'x',1)",
        b"(5.5,'x',1)",
        b"(five,'x',1)",
        b"(,'x',1)",
        b"(5,'x'y,1)",
        b"(99999999999999999999,'x',1)",
        b"(5,0x123,1)",
        b"(5,0xzz,1)",
        b"nothing",
        b"()",
    ],
)
@pytest.mark.parametrize("block", [1, 4, 1 << 22])
def test_broken_rows_are_counted_and_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: bytes, block: int
) -> None:
    monkeypatch.setattr(streams, "BLOCK", block)
    actual, counts = parse(tmp_path / "t.sql", body(b"(1,'before',1)", row, b"(9,'after',1)"))
    assert counts.broken == 1
    after = [(9, "after")] if row != b"nothing" else []  # without a bracket the next row cannot be told from the junk
    assert actual == [(1, "before"), *after]


def test_truncated_row_is_counted(tmp_path: Path) -> None:
    cut = HEAD + b"INSERT INTO `t` VALUES (1,'a',1),(2,'b\nINSERT INTO `t` VALUES (3,'c',1),(4,'d"
    actual, counts = parse(tmp_path / "t.sql", cut)
    assert actual == [(1, "a"), (3, "c")]
    assert counts.broken == 2


def test_invalid_utf_8_is_replaced_and_counted(tmp_path: Path) -> None:
    actual, counts = parse(tmp_path / "t.sql", body(b"(1,'a\xff',1)", "(2,'\ufffd',1)".encode()))
    assert actual == [(1, "a\ufffd"), (2, "\ufffd")]
    assert counts.repaired == 1


def test_rows_may_have_separate_lines_and_column_names(tmp_path: Path) -> None:
    actual, counts = parse(
        tmp_path / "t.sql", b"INSERT IGNORE INTO t (`a`, `b`, `c`) VALUES\n(1,'a',1),\n(2,'b',1);\nDROP TABLE u;\n"
    )
    assert actual == [(1, "a"), (2, "b")]
    assert counts.broken == 0


def test_rows_of_other_tables_are_skipped(tmp_path: Path) -> None:
    other = b"CREATE TABLE `u` (\n  `z` int\n);\nINSERT INTO `u` VALUES (1),(2);\n"
    actual, counts = parse(tmp_path / "t.sql", other + body(b"(1,'a',1)") + b"INSERT INTO `u` VALUES (3);\n")
    assert actual == [(1, "a")]
    assert counts.seen == ["u", "t"]


def test_many_rows_come_in_several_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqldump, "ROWS", 10)
    rows = [(number, f"title_{number}") for number in range(1005)]
    actual, _ = parse(tmp_path / "t.sql", body(*(b"(%d,'%s',1)" % (n, t.encode()) for n, t in rows)))
    assert actual == rows


def test_unbounded_line_is_discarded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "BLOCK", 100)
    monkeypatch.setattr(sqldump, "LONGEST", 500)
    monkeypatch.setattr(sqldump, "HEADER", 60)
    data = HEAD + b"z" * 5000 + b"\nINSERT INTO `t` VALUES (1,'a',1),(2,'" + b"y" * 5000 + b"',1),(3,'c',1);\n"
    actual, counts = parse(tmp_path / "t.sql", data)
    assert actual == [(1, "a"), (3, "c")]
    assert counts.broken == 1


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_compressed_dumps_are_read_and_truncated_ones_raise(tmp_path: Path, pack: Any) -> None:
    suffix = "gz" if pack is gzip.compress else "bz2"
    data = body(*(b"(%d,'%d',1)" % (n, n * n) for n in range(20_000)))
    actual, counts = parse(tmp_path / f"t.sql.{suffix}", pack(data))
    assert len(actual) == 20_000
    assert counts.broken == 0
    cut = pack(data)[: len(pack(data)) * 2 // 3]
    with pytest.raises(CorruptFileError, match="--allow-truncated"):
        parse(tmp_path / f"t.sql.{suffix}", cut)
    actual, counts = parse(tmp_path / f"t.sql.{suffix}", cut, allow_truncated=True)
    assert counts.truncated
    assert actual == [(n, str(n * n)) for n in range(len(actual))]


def test_rows_without_names_of_columns_raise(tmp_path: Path) -> None:
    with pytest.raises(CorruptFileError, match="before CREATE TABLE"):
        parse(tmp_path / "t.sql", b"INSERT INTO `t` VALUES (1,'a',1);\n")


def test_null_is_read_in_nullable_columns(tmp_path: Path) -> None:
    (tmp_path / "t.sql").write_bytes(body(b"(1,'a',1)", b"(2,'b',NULL)"))
    requested = [Wanted("c", "int", True)]
    (batch,) = read_table(tmp_path / "t.sql", "t", lambda names: requested, Counts(), lambda amount=1.0: None)
    assert batch["c"].tolist() == [1, NULL]
