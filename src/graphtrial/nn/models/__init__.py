"""Whole models that are no stack of one kind of layer, one file each."""
