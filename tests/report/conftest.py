"""Stores with made-up scores."""

from tests.helpers.filled_store import fill, results  # noqa: F401 - fixtures
