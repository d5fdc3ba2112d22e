"""LaTeX to MathML, which browsers draw without a script."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

from latex2mathml.converter import convert

GAP = re.compile(r"\\q?quad\b")
BRACKETS = ((r"(?<!\\)\{", r"(?<!\\)\}"), (r"\\begin\b", r"\\end\b"), (r"\\left\b", r"\\right\b"))


def display(source: str, *_: Any, **__: Any) -> str:
    """Render a fenced block called `math`; signature of a custom fence of pymdownx.

    Formulas side by side become elements of their own, so that a narrow screen shows them below each other.
    """
    return f'<div class="formula">{"".join(_mathml(part, "block") for part in _side_by_side(source))}</div>'


def _side_by_side(source: str) -> list[str]:
    """Split at wide spaces outside braces, environments and delimiters."""
    parts = [""]
    for piece in GAP.split(source):
        parts[-1] += piece
        if all(len(re.findall(a, parts[-1])) == len(re.findall(b, parts[-1])) for a, b in BRACKETS):
            parts.append("")
        else:
            parts[-1] += r"\quad"
    return [part for part in parts if part.strip()]


def inline(source: str, *_: Any) -> str:
    """Render inline code that begins with `#!math`; signature of a custom inline format of pymdownx."""
    return _mathml(source, "inline")


def _mathml(source: str, mode: str) -> str:
    latex = re.sub(r"\\textstyle\b", "", " ".join(unescape(source).split()))
    return str(convert(latex, display=mode))
