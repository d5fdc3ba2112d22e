"""Stopping rules, one per file."""
