"""The command line: every command is one call into the library."""

from graphtrial.cli.main import main

__all__ = ["main"]
