"""Compiled kernels on disk: crash-safe files, and a stamp of everything compiled into them."""
