"""Synthetic Wikipedia dumps of any size, for tests and benchmarks."""
