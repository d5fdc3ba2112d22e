"""The command line called in this process."""

from __future__ import annotations

from functools import cache

import typer.main
import typer.testing
from typer.testing import CliRunner, Result

__all__ = ["CliRunner", "Result"]

# The runner builds the tree of all commands for every call, which takes longer than most commands.
typer.testing._get_command = cache(typer.main.get_command)  # type: ignore[assignment]
