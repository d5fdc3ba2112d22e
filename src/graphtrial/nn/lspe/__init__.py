"""Learnable structural and positional encodings (LSPE): layers that update positions beside node states."""
