"""Scripts for maintainers; nothing here is installed."""
