"""Speed, memory and scaling against PyG and GraKeL: `python -m benchmarks`."""
