"""Tuning under a budget: search spaces, random, grid and TPE search, successive halving."""
