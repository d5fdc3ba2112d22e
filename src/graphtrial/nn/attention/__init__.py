"""Parts of graph transformers: attention along edges, output projection with feed-forward network."""
