"""Images as graphs of superpixels."""
