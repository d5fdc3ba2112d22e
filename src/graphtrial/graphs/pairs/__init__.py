"""Pairs of nodes of each graph of a batch: buckets, complete graphs, random walks, shortest paths, expanders."""
