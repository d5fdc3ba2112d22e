"""Frozen per name and version: declared defaults, and ids of specifications."""
