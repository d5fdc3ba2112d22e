"""Write the timings of the shipped results, `src/graphtrial/shipped/timings.jsonl`: `python -m tools.timings`."""

from __future__ import annotations

from pathlib import Path

from graphtrial.core.files import write_text
from graphtrial.shipped import shipped_store
from graphtrial.shipped.timings import FILE, timings_of, to_line

TARGET = Path(__file__).parents[1] / "src" / "graphtrial" / "shipped" / FILE


def main() -> None:
    """Write the file."""
    write_text(TARGET, "".join(f"{to_line(timing)}\n" for timing in timings_of(shipped_store().trials())))


if __name__ == "__main__":
    main()
