"""Tables, curves and pages made from the store, side by side with the published numbers."""

from graphtrial.report.page import write_report
from graphtrial.report.rows import ResultRow, result_rows
from graphtrial.report.tables import markdown, terminal_tables

__all__ = ["ResultRow", "markdown", "result_rows", "terminal_tables", "write_report"]
