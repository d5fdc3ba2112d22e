"""Readers of Wikipedia dumps: SQL tables and XML pages."""
