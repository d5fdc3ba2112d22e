"""MkDocs hooks: pages from outside `docs/`, executed tutorials, and lists of what is registered."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

from tools.docs import links, listings
from tools.docs.notebooks import NOTEBOOKS, OUTPUT

ROOT = Path(__file__).parents[2]
OUTSIDE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "benchmarks/RESULTS.md": "benchmarks.md",
}
"""Pages of the repository that are pages of the site."""
STATIC = ("tools/docs/static/site.css", "tools/docs/static/iframe-worker.js")


def on_files(files: Any, config: Any) -> Any:
    """Add the pages of the repository and the tutorials as `python -m tools.docs` has executed them."""
    for source, target in OUTSIDE.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, target, content=links.on_site(text, source, target, OUTSIDE)))
    for source in STATIC:
        files.append(File.generated(config, Path(source).name, abs_src_path=str(ROOT / source)))
    for path in sorted(OUTPUT.rglob("*")):
        if path.is_file() and path.relative_to(OUTPUT).parts[0] in {name.stem for name in NOTEBOOKS} | PAGES_OF_OUTPUT:
            target = f"tutorials/{path.relative_to(OUTPUT).as_posix()}"
            files.append(File.generated(config, target, abs_src_path=str(path)))
    return files


PAGES_OF_OUTPUT = {f"{path.stem}{suffix}" for path in NOTEBOOKS for suffix in (".md", ".ipynb")}


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Resolve links that leave `docs/`, and expand lines such as `::: registered MODELS`."""
    source = page.file.src_uri
    if source not in OUTSIDE.values():
        markdown = links.on_site(markdown, os.path.join("docs", source), source, OUTSIDE)
    return listings.expanded(markdown)
