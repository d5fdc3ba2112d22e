"""Whole models that are not a stack of one kind of layer, one file each."""
