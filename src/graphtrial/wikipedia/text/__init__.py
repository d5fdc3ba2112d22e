"""Words and word vectors of articles."""
