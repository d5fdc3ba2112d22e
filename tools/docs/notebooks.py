"""Tutorials: Python files with `# %%` cells, executed as notebooks and written as pages.

The files are stored without outputs, so that a change is readable and the linter sees the code. Each is executed in an
empty folder with a fresh store; an exception of any cell ends the build.
"""

from __future__ import annotations

import base64
import os
import re
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "tutorials").glob("*.py"))
OUTPUT = ROOT / "build" / "docs" / "tutorials"
HOME = ROOT / "build" / "docs" / "home"
"""The cache of prepared data, apart from that of the user: tutorials register datasets."""
CELL_SECONDS = 3600
START_SECONDS = 600
ANSI = re.compile(r"\x1b\[[0-9;]*m")


def execute(source: Path, output: Path = OUTPUT) -> float:
    """Execute a tutorial and write its page, its pictures and the notebook; return the seconds that it took."""
    import jupytext
    import nbformat
    from nbclient import NotebookClient

    notebook = jupytext.read(source, fmt="py:percent")
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    os.environ["GRAPHTRIAL_HOME"] = str(HOME)
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(notebook, kernel_name="python3", timeout=CELL_SECONDS, startup_timeout=START_SECONDS)
        client.execute(cwd=folder)
    seconds = time.perf_counter() - began
    pictures: dict[str, bytes] = {}
    text = page(notebook, source.stem, pictures)
    output.mkdir(parents=True, exist_ok=True)
    for name, content in pictures.items():
        (output / name).parent.mkdir(exist_ok=True)
        (output / name).write_bytes(content)
    write: Any = nbformat.write  # without types
    write(notebook, output / f"{source.stem}.ipynb")
    (output / f"{source.stem}.md").write_text(text, encoding="utf-8")
    return seconds


def page(notebook: Mapping[str, Any], name: str, pictures: dict[str, bytes]) -> str:
    """Return an executed notebook as Markdown; its pictures are added to `pictures` by their relative path."""
    parts = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            parts.append(cell["source"])
            continue
        parts.append(f"```python\n{cell['source']}\n```")
        parts += _outputs(cell.get("outputs", []), name, pictures)
    title, *rest = "\n\n".join(parts).split("\n", 1)
    download = f"[Notebook]({name}.ipynb){{ .download download }}"
    return "\n".join([title, "", download, *rest]) + "\n"


def _outputs(outputs: list[Mapping[str, Any]], name: str, pictures: dict[str, bytes]) -> Iterator[str]:
    """Yield the outputs of a cell: streams joined, and of each result its richest form."""
    printed = "".join(item["text"] for item in outputs if item["output_type"] == "stream" and item["name"] == "stdout")
    if printed.strip():
        yield _text(printed)
    for item in outputs:
        data = item.get("data", {})
        if "image/png" in data:
            path = f"{name}/{len(pictures) + 1}.png"
            pictures[path] = base64.b64decode(data["image/png"])
            yield f"![output of the cell above]({path}){{ .output }}"
        elif "text/html" in data:
            html = re.sub(r"<style.*?</style>|\n\s*", "", data["text/html"], flags=re.DOTALL)
            yield f'<div class="output">{html}</div>'
        elif "text/plain" in data:
            yield _text(data["text/plain"])


def _text(output: str) -> str:
    return "``` {.text .output}\n" + ANSI.sub("", output).strip("\n") + "\n```"
