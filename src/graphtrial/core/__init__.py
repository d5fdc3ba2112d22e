"""Registry, identity, files, cache and processes: what every package builds on, with no knowledge of graphs."""
