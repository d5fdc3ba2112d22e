"""Generators of synthetic datasets: pure functions of parameters and a seed, bit-identical on every machine."""
