"""Datasets of other libraries by name: `pyg:Planetoid/Cora`, `ogb:ogbg-molhiv`, `lrgb:peptides-func`.

The loaders of these libraries unpickle what they download. They run in a process of their own, which returns plain
arrays, and only where the user has named the dataset: on the command line, by --allow, or in Python.
"""
