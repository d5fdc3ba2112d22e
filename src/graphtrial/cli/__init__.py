"""Command line interface."""

from graphtrial.cli.main import main

__all__ = ["main"]
