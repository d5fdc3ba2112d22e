"""Griffe extension: docstrings as Markdown.

Formulas are written as in Sphinx (`.. math::`, `:math:`) and become what `formulas` renders; indented examples keep
their indentation, which Markdown takes for code.
"""

from __future__ import annotations

import re
import textwrap
from typing import Any

import griffe

DISPLAY = re.compile(r"^\.\. math::(?P<first>[^\n]*)\n(?P<more>(?:[ ]+[^\n]*\n|\n(?=[ ]))*)", re.MULTILINE)
INLINE = re.compile(r":math:`([^`]*)`")
ROLE = re.compile(r":(?:class|func|meth|mod|attr):`~?([^`]*)`")


def to_markdown(docstring: str) -> str:
    """Return a docstring with its formulas as blocks and inline code of the kind `math`."""
    text = DISPLAY.sub(_block, docstring + "\n")
    text = INLINE.sub(lambda match: f"`#!math {' '.join(match[1].split())}`", text)
    return ROLE.sub(r"`\1`", text).rstrip("\n")


def _block(match: re.Match[str]) -> str:
    lines = [match["first"].strip(), *textwrap.dedent(match["more"]).splitlines()]
    return "\n```math\n" + "\n".join(line for line in lines if line.strip()) + "\n```\n\n"


class Docstrings(griffe.Extension):
    """Convert every docstring when it is loaded."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = to_markdown(obj.docstring.value)
