"""Write the normalised files into `src/graphtrial/published`."""

from __future__ import annotations

from tools.normalize_published.raw import PACKAGE
from tools.normalize_published.write import normalized_files


def main() -> None:
    """Write every changed file and print its name."""
    for name, text in normalized_files().items():
        path = PACKAGE / name
        if path.exists() and path.read_text(encoding="utf-8") == text:
            print(f"{name}: unchanged, {len(text.splitlines())} lines")
            continue
        path.write_text(text, encoding="utf-8", newline="\n")
        print(f"{name}: {len(text.splitlines())} lines written")


if __name__ == "__main__":
    main()
