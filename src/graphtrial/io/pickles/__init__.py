"""A restricted pickle reader that builds plain data only."""
