"""Rows, statistics, verdicts and tables made from the store."""

from graphtrial.results.rows import ResultRow, result_rows
from graphtrial.results.tables import markdown, terminal_tables

__all__ = ["ResultRow", "markdown", "result_rows", "terminal_tables"]
