"""Tables of results as Markdown, LaTeX, CSV and JSON."""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, get_args

from graphtrial.core.errors import GraphTrialError, did_you_mean
from graphtrial.results.rows import ResultRow
from graphtrial.results.statistics.chance import is_at_chance
from graphtrial.results.tables import EXPLANATION, HEADERS, markdown, table_cells, titles
from graphtrial.results.titles import distinguishing_settings

Format = Literal["markdown", "latex", "csv", "json"]
FORMATS: tuple[str, ...] = get_args(Format)
TEST = HEADERS.index("Test")
LATEX_LEFT = 2
"""How many columns of words come first."""
IN_LATEX = {
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


def export(rows: Sequence[ResultRow], format: str, all_columns: bool = False) -> str:
    """Return the rows as text in a format of `FORMATS`; one table per dataset and training rules."""
    made: dict[str, Callable[[], str]] = {
        "markdown": lambda: markdown(rows),
        "latex": lambda: latex(rows, all_columns),
        "csv": lambda: as_csv(rows),
        "json": lambda: as_json(rows),
    }
    if format not in made:
        raise GraphTrialError(
            f"no format called '{format}'.{did_you_mean(format, made)} Known formats: {', '.join(made)}."
        )
    return made[format]()


def latex(rows: Sequence[ResultRow], all_columns: bool = False) -> str:
    r"""Return the rows as LaTeX tables (`booktabs`) with caption and label, the best bold, the second underlined.

    A page is wide enough for the columns `IN_PRINT`; `all_columns` asks for the others too.
    """
    headers = HEADERS if all_columns else IN_PRINT
    places_of = [HEADERS.index(header) for header in headers]
    parts, labels = [r"% needs \usepackage{booktabs}"], set[str]()
    for title, group in titles(rows).items():
        columns = "l" * LATEX_LEFT + "r" * (len(headers) - LATEX_LEFT)
        caption = f"{escape_latex(title)}. {CAPTION}"
        lines = [r"\begin{table}", r"\centering", rf"\caption{{{caption}}}", rf"\label{{{_label(group[0], labels)}}}"]
        lines += [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", _line(map(escape_latex, headers)), r"\midrule"]
        for line, place in zip(table_cells(group), placed(group), strict=True):
            values = [escape_latex(cell) for cell in line]
            if place in MARKS:
                values[TEST] = MARKS[place] % values[TEST]
            lines.append(_line(values[i] for i in places_of))
        lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}", ""]
        parts.append("\n".join(lines))
    return "\n".join([*parts, "% " + EXPLANATION, ""])


MARKS = {1: r"\textbf{%s}", 2: r"\underline{%s}"}
IN_PRINT = ("Model", "Encoding", "L", "#Param", "Test", "95 %", "Published", "Verdict")
CAPTION = (
    r"Mean $\pm$ sample s.d.\ over trials and 95\,\% interval of the mean; best bold, second underlined, chance level "
    "never."
)


def _label(row: ResultRow, taken: set[str]) -> str:
    """Return a label for `\\ref` that no other table of the text has."""
    spec = row.first.spec
    words = re.sub(r"[^a-z0-9]+", "-", f"{spec.dataset} {spec.protocol.partition('@')[0]}".lower()).strip("-")
    label = f"tab:{words}"
    number = next(n for n in itertools.count(1) if (label if n == 1 else f"{label}-{n}") not in taken)
    label = label if number == 1 else f"{label}-{number}"
    taken.add(label)
    return label


def placed(rows: Sequence[ResultRow]) -> list[int | None]:
    """Return the place of each row of one table by its mean test score: 1 the best, 2 the second; equals share one.

    Means are compared as printed, with three digits; a row without a score, or at chance level, has no place.
    """
    tests = [None if is_at_chance(row) else row.scores("test") for row in rows]
    means = [None if test is None else round(test.mean, 3) for test in tests]
    known = sorted({mean for mean in means if mean is not None}, reverse=bool(rows) and rows[0].first.higher_is_better)
    return [None if mean is None else known.index(mean) + 1 for mean in means]


def as_csv(rows: Sequence[ResultRow]) -> str:
    """Return the rows as comma-separated values, numbers in full and each in a column of its own."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for row, differs in zip(rows, distinguishing_settings(rows), strict=True):
        told = row.to_dict()
        test, train, printed = told["test"] or {}, told["train"] or {}, told["published"] or {}
        score = printed.get("test") or {}
        writer.writerow(
            [_safe(told["dataset"]), _safe(told["protocol"]), _safe(row.label), _safe(row.encoding), _safe(differs)]
            + [row.setting("layers"), told["params"], told["metric"], told["higher_is_better"]]
            + [test.get(key) for key in ("mean", "std", "ci_low", "ci_high", "min", "max", "n")]
            + [train.get("mean"), train.get("std"), told["epochs"], told["epoch_seconds"], told["total_hours"]]
            + [printed.get("paper"), printed.get("table"), score.get("mean"), score.get("sd"), score.get("n")]
            + [row.verdict.kind, row.verdict.direction, _safe(row.verdict.reason)]
            + [" ".join(map(str, row.derived_seeds))]
            + ["; ".join(departure.badge for departure in row.departures)]
            + [_safe("; ".join(departure.reason for departure in row.departures))]
        )
    return text.getvalue()


CSV_COLUMNS = (
    *("dataset", "protocol", "model", "encoding", "differs_in", "layers", "params", "metric", "higher_is_better"),
    *("test_mean", "test_std", "test_ci_low", "test_ci_high", "test_min", "test_max", "trials"),
    *("train_mean", "train_std", "epochs", "epoch_seconds", "total_hours"),
    *("paper", "table", "published_mean", "published_sd", "published_runs"),
    *("verdict", "direction", "verdict_reason", "derived_seeds", "badges", "departures"),
)


def as_json(rows: Sequence[ResultRow]) -> str:
    """Return the rows as JSON, each as `--json` prints it."""
    return json.dumps([row.to_dict() for row in rows], indent=2, ensure_ascii=False) + "\n"


def escape_latex(text: str) -> str:
    """Return a text that LaTeX prints as it stands."""
    return "".join(IN_LATEX.get(character, character) for character in text.replace("\n", " "))


def _line(values: Iterable[str]) -> str:
    text = " & ".join(values)
    return ("{}" if text.startswith("[") else "") + text + r" \\"  # after a line break [ would begin an option


def _safe(text: str) -> str:
    """Keep spreadsheets from taking a name for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
