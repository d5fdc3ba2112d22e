"""Confidence intervals, tests and ranks."""
