"""Synthetic dumps of any size."""
