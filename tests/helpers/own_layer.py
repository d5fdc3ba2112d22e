"""A layer of a user's own, a file that holds it, and the command line in this process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.helpers.cli import CliRunner, Result

from graphtrial.cli.main import app

LAYER = """
from torch import nn
import graphtrial as gt

@gt.MODELS.register("mine")
class Mine(gt.Conv):
    "A layer of mine."
    def __init__(self, width: int, factor: float = 1.0):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.factor = factor
    def forward(self, graph, x, e):
        return self.factor * self.linear(x), e
"""


def write(folder: Path, text: str, name: str = "mine.py") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def leaving(statement: str, *, building: bool) -> str:
    """Return a layer that ends its process, or tries to, when it is built or when it is first trained."""
    text = "import os, sys\n" + LAYER
    if building:
        return text.replace("        super().__init__()\n", f"        super().__init__()\n        {statement}\n")
    return text.replace("        return self.factor", f"        {statement}\n        return self.factor")


def call(*words: Any) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])
