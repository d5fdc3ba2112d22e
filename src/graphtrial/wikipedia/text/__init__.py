"""Wikitext parsing, tokenization and word vectors."""
