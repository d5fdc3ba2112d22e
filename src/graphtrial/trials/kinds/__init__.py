"""Kinds of trials."""
