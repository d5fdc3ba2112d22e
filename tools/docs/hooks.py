"""MkDocs hooks: pages from outside `docs/`, executed tutorials, and lists of what is registered."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

from tools.docs import links, listings
from tools.docs.descriptions import description
from tools.docs.notebooks import NOTEBOOKS, OUTPUT

ROOT = Path(__file__).parents[2]
OUTSIDE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "benchmarks/RESULTS.md": "benchmarks.md",
}
"""Pages of the repository that are pages of the site."""
ALONE = ("index.md", "quickstart.md")
"""Pages that are a tab of their own, without others beside them."""
STATIC = ("tools/docs/static/site.css", "tools/docs/static/iframe-worker.js")


def on_files(files: Any, config: Any) -> Any:
    """Add the pages of the repository and the tutorials as `python -m tools.docs` has executed them."""
    for source, target in OUTSIDE.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, target, content=links.on_site(text, source, target, OUTSIDE)))
    for source in STATIC:
        files.append(File.generated(config, Path(source).name, abs_src_path=str(ROOT / source)))
    names = {path.stem for path in NOTEBOOKS}
    for path in sorted(OUTPUT.rglob("*.*")):
        place = path.relative_to(OUTPUT)
        if Path(place.parts[0]).stem in names:  # an earlier build may have left others
            files.append(File.generated(config, f"tutorials/{place.as_posix()}", abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Resolve links that leave `docs/`, and expand lines such as `::: registered MODELS`."""
    source = page.file.src_uri
    if source in ALONE:
        page.meta["hide"] = ["navigation"]
    if source not in OUTSIDE.values():
        markdown = links.on_site(markdown, os.path.join("docs", source), source, OUTSIDE)
    return listings.expanded(markdown)


def on_page_content(content: str, page: Any, config: Any, files: Any) -> None:
    """Describe the page by its first paragraph, and give its width to the text where there are no sections."""
    page.meta.setdefault("description", description(content) or config.site_description)
    if not any(item.children for item in page.toc):
        page.meta.setdefault("hide", []).append("toc")
