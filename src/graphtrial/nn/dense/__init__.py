"""Models on dense tensors of node pairs: graphs of similar size side by side, padding masked, memory bounded."""
