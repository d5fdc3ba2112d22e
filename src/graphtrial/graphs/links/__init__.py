"""Labelled pairs of nodes: the candidates that links are ranked among, and the attributes of PyG."""
