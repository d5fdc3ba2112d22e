"""Parts that the models of the GraphGPS family share: inputs, local layers, attention, feed-forward block, heads."""
