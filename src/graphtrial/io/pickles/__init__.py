"""Restricted unpickler: builds plain data, arrays and tensors only; imports and calls nothing that a file names."""
