"""Parquet files between the stages: streaming writers, and DuckDB queries with a memory limit."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from graphtrial.core.errors import GraphTrialError, missing_extra
from graphtrial.core.parallel import cores

GROUP = 1 << 17
BATCH_ROWS = 1 << 15
MEMORY_GB = 8.0


class ParquetWriter:
    """Streaming Parquet writer of column batches."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows = 0
        self._writer: Any = None
        self._parquet = library("pyarrow.parquet")
        self._arrow = library("pyarrow")

    def __enter__(self) -> ParquetWriter:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if self._writer is not None:
            self._writer.close()

    def add(self, columns: Mapping[str, Any]) -> None:
        """Write a batch of rows as arrays by column name; the schema is that of the first batch."""
        table = columns if isinstance(columns, self._arrow.Table) else self._arrow.table(dict(columns))
        if self._writer is None:
            self._writer = self._parquet.ParquetWriter(self.path, table.schema, compression="zstd")
        if table.num_rows or not self.rows:
            self._writer.write_table(table, row_group_size=GROUP)
        self.rows += table.num_rows


class RowWriter:
    """Streaming Parquet writer of single rows with a given schema, buffered in batches of `batch_rows`."""

    def __init__(self, path: Path, columns: dict[str, str], batch_rows: int = BATCH_ROWS) -> None:
        arrow = library("pyarrow")
        self.sheet = ParquetWriter(path)
        kinds = {"list": arrow.large_list(arrow.large_string())}
        self.schema = arrow.schema(
            [(name, kinds.get(kind) or getattr(arrow, kind)()) for name, kind in columns.items()]
        )
        self.columns: list[list[Any]] = [[] for _ in columns]
        self.rows = 0
        self.batch_rows = batch_rows

    def __enter__(self) -> RowWriter:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None:
            self._write()
        self.sheet.__exit__(kind, error, trace)

    def add(self, *values: Any) -> None:
        """Add a row."""
        for column, value in zip(self.columns, values, strict=True):
            column.append(value)
        self.rows += 1
        if len(self.columns[0]) == self.batch_rows:
            self._write()

    def _write(self) -> None:
        table = library("pyarrow").table([*self.columns], schema=self.schema)
        self.sheet.add(table)
        for column in self.columns:
            column.clear()


def library(name: str) -> Any:
    """Import a library of the extra `wikics`."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise missing_extra("making a dataset from Wikipedia", name.partition(".")[0], "wikics") from None


@contextmanager
def engine(folder: Path, memory_gb: float) -> Iterator[Any]:
    """Yield a DuckDB connection with a memory limit that spills to `folder`."""
    duckdb = library("duckdb")
    spill = folder / ".spill"
    connection = duckdb.connect(":memory:")
    try:
        connection.execute(f"SET memory_limit = '{memory_gb:g}GB'")
        connection.execute(f"SET threads = {cores()}")
        connection.execute(f"SET temp_directory = {quoted(spill)}")
        connection.execute("SET enable_progress_bar = false")
        yield connection
    except duckdb.OutOfMemoryException as error:
        raise GraphTrialError(
            f"{memory_gb:g} GB of memory do not suffice for a join, give more with --memory "
            f"({str(error).splitlines()[0]:.200})"
        ) from error
    finally:
        connection.close()


def quoted(value: Path | str) -> str:
    """Return an SQL string literal."""
    return "'" + str(value).replace("'", "''") + "'"


def save(connection: Any, query: str, path: Path) -> int:
    """Write the result of a query to a Parquet file; return its number of rows."""
    connection.execute(f"COPY ({query}) TO {quoted(path)} (FORMAT parquet, COMPRESSION zstd)")
    row = connection.execute(f"SELECT count(*) FROM {quoted(path)}").fetchone()
    return int(row[0])
