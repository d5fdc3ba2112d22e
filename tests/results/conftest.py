"""Stores with made-up scores."""

from tests.filled_store import fill, results  # noqa: F401 - fixtures
