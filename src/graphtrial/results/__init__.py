"""Result rows of a store: statistics, verdicts, comparisons, and the columns of every output."""

from graphtrial.results.export.frame import to_pandas
from graphtrial.results.export.tables import markdown, terminal_tables
from graphtrial.results.grouping import result_rows
from graphtrial.results.rows import ResultRow, ResultRows

__all__ = ["ResultRow", "ResultRows", "markdown", "result_rows", "terminal_tables", "to_pandas"]
