"""Registry, identity hashes, atomic files, cache, plug-ins and process settings; no knowledge of graphs."""
