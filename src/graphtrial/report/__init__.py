"""Tables, comparisons and a site made from the store, side by side with the published numbers."""

from graphtrial.report.rows import ResultRow, result_rows
from graphtrial.report.site import Prepared, write_site
from graphtrial.report.tables import markdown, terminal_tables

__all__ = ["Prepared", "ResultRow", "markdown", "result_rows", "terminal_tables", "write_site"]
