"""Hypothesis without deadlines, so that a busy machine does not fail a test."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
