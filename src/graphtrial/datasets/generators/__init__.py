"""How the artificial datasets are made: pure functions of their parameters and a seed, the same on every machine."""
