"""A study that runs in seconds, and an empty store."""

from tests.helpers.small_study import store, study  # noqa: F401 - fixtures
