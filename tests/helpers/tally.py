"""Counts what the long form of the tests of faults and bad input went through, for the committed table."""

from __future__ import annotations

import platform
from dataclasses import dataclass, field
from pathlib import Path

HEAD = """# What the long form went through

Written by `make faults`; the short forms run in `make test`. Every line is a count of things that were done, each of
which was checked as the last column says; a check that fails ends up in the test report, not here.

| part | what was done | times | checked each time |
| --- | --- | ---: | --- |
"""


@dataclass
class Tally:
    """Lines of the table: part, what was done, how often, what was checked."""

    lines: dict[tuple[str, str, str], int] = field(default_factory=dict)

    def add(self, part: str, what: str, checked: str, times: int = 1) -> None:
        """Count something that was done and held."""
        key = (part, what, checked)
        self.lines[key] = self.lines.get(key, 0) + times

    def write(self, path: Path, failed: int) -> None:
        """Write the table."""
        rows = [f"| {part} | {what} | {times:,} | {checked} |" for (part, what, checked), times in self.lines.items()]
        import torch

        where = (
            f"Python {platform.python_version()}, torch {torch.__version__}, {platform.system()} {platform.machine()}"
        )
        end = f"\n{failed} checks failed. {where}.\n"
        path.write_text(HEAD + "\n".join(rows) + "\n" + end, encoding="utf-8")
