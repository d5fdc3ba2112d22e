"""Columns of rows, trials and comparisons: the one place that names, explains and formats them."""

from graphtrial.results.columns.column import DATA, EVERYWHERE, LATEX, TABLES, Column, ColumnTable, Output

__all__ = ["DATA", "EVERYWHERE", "LATEX", "TABLES", "Column", "ColumnTable", "Output"]
