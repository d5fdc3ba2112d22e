"""Speed, memory and scaling of GraphTrial beside its peers: `python -m benchmarks`."""
