"""Counts of injected faults and malformed inputs for docs/reliability-results.md."""

from __future__ import annotations

import platform
from dataclasses import dataclass, field
from pathlib import Path

HEAD = """# Fault-injection results

Written by `make faults`; short forms run in `make test`. Each row counts injected faults and the property checked after
each of them; failed checks appear in the test report, not here.

| part | fault | count | checked after each |
| --- | --- | ---: | --- |
"""


@dataclass
class Tally:
    """Counts by part, fault and checked property."""

    lines: dict[tuple[str, str, str], int] = field(default_factory=dict)

    def add(self, part: str, title: str, checked: str, times: int = 1) -> None:
        """Count faults after which the property held."""
        key = (part, title, checked)
        self.lines[key] = self.lines.get(key, 0) + times

    def write(self, path: Path, failed: int) -> None:
        """Write the table."""
        rows = [f"| {part} | {title} | {times:,} | {checked} |" for (part, title, checked), times in self.lines.items()]
        import torch

        where = (
            f"Python {platform.python_version()}, torch {torch.__version__}, {platform.system()} {platform.machine()}"
        )
        end = f"\n{failed} checks failed. {where}.\n"
        path.write_text(HEAD + "\n".join(rows) + "\n" + end, encoding="utf-8")
