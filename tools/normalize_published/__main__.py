"""Write the normalised files into `src/graphtrial/published`: `python -m tools.normalize_published [FOLDER]`.

With a FOLDER, its `configs.csv` and `results.csv` first replace the transcriptions of modern papers.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

from tools.normalize_published.raw import FOLDER, PACKAGE
from tools.normalize_published.write import normalized_files

UNUSED = ("notes", "params_source")
"""Columns of remarks, of which nothing is read."""


def main() -> None:
    """Write every changed file and print its name."""
    if len(sys.argv) > 1:
        take_over(Path(sys.argv[1]))
    for name, text in normalized_files().items():
        path = PACKAGE / name
        if path.exists() and path.read_text(encoding="utf-8") == text:
            print(f"{name}: unchanged, {len(text.splitlines())} lines")
            continue
        path.write_text(text, encoding="utf-8", newline="\n")
        print(f"{name}: {len(text.splitlines())} lines written")


def take_over(folder: Path) -> None:
    """Copy the transcribed configurations and results of modern papers to `raw/`."""
    for name in ("configs.csv", "results.csv"):
        with (folder / name).open(encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(file))
        columns = [column for column in lines[0] if column not in UNUSED]
        with (FOLDER / "raw" / f"modern_{name}").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
            writer.writeheader()
            writer.writerows(lines)


if __name__ == "__main__":
    main()
