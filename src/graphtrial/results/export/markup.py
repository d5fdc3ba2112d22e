"""Tables as Markdown, LaTeX (booktabs) and CSV, from headings and cells."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Literal

Align = Literal["left", "right"]
BOOKTABS = r"% needs \usepackage{booktabs}"
BOLD, UNDERLINED = r"\textbf{%s}", r"\underline{%s}"
ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "±": r"$\pm$",
    "²": r"$^2$",
}


def markdown_table(headings: Sequence[str], aligns: Iterable[Align], lines: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; texts are escaped here."""
    rule = "|" + "".join(" ---: |" if align == "right" else " --- |" for align in aligns)
    return "\n".join([_markdown_line(headings), rule, *map(_markdown_line, lines)])


def escape_markdown(text: str) -> str:
    """Escape a text for Markdown, inside tables too."""
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def latex_table(
    caption: str, label: str, headings: Iterable[str], aligns: Iterable[Align], lines: Iterable[Iterable[str]]
) -> str:
    r"""Return a LaTeX table with caption and label; headings, caption and cells are LaTeX already."""
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{caption}}}",
            rf"\label{{{label}}}",
            rf"\begin{{tabular}}{{{''.join(align[0] for align in aligns)}}}",
            r"\toprule",
            _latex_line(headings),
            r"\midrule",
            *map(_latex_line, lines),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def escape_latex(text: str) -> str:
    """Escape a text for LaTeX."""
    return "".join(ESCAPES.get(character, character) for character in text.replace("\n", " "))


def csv_text(header: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """Return comma-separated values; texts that a spreadsheet would evaluate as formulas are quoted."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([_inert(value) if isinstance(value, str) else value for value in line] for line in lines)
    return text.getvalue()


def is_number(text: str) -> bool:
    """Whether a text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _markdown_line(values: Sequence[str]) -> str:
    return "| " + " | ".join(map(escape_markdown, values)) + " |"


def _latex_line(values: Iterable[str]) -> str:
    text = " & ".join(values)
    return ("{}" if text.startswith("[") else "") + text + r" \\"  # [ after a line break would begin an option


def _inert(text: str) -> str:
    if text[:1] in ("=", "@", "\t", "\r") or (text[:1] in ("+", "-") and not is_number(text)):
        return "'" + text
    return text
