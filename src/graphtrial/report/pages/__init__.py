"""Pages of the report, one module per kind."""
