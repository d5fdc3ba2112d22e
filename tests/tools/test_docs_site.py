"""The documentation site: every page is in the navigation, tutorials parse, links and formulas are converted."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import graphtrial as gt
from tools.docs.check import problems
from tools.docs.descriptions import description
from tools.docs.links import on_site
from tools.docs.notebooks import NOTEBOOKS, page

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
CONFIGURATION = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
IN_NAVIGATION = set(re.findall(r"([\w/-]+\.md)$", CONFIGURATION.partition("\nnav:")[2], re.MULTILINE))
FROM_OUTSIDE = {"index.md", "contributing.md", "changelog.md", "benchmarks.md"}


def test_every_page_is_in_the_navigation() -> None:
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    tutorials = {f"tutorials/{path.stem}.md" for path in NOTEBOOKS}
    assert pages | tutorials | FROM_OUTSIDE == IN_NAVIGATION, "the nav of mkdocs.yml"


@pytest.mark.parametrize("tutorial", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_tutorial_parses_and_has_text_and_code(tutorial: Path) -> None:
    text = tutorial.read_text(encoding="utf-8")
    ast.parse(text)
    assert text.startswith("# %% [markdown]\n# # ")
    assert text.count("\n# %%\n") >= 3
    assert f"({tutorial.name})" in (DOCS / "tutorials" / "index.md").read_text(encoding="utf-8")


def test_there_are_four_tutorials() -> None:
    assert len(NOTEBOOKS) == 4


def test_the_reference_has_every_public_name() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in (DOCS / "api").glob("*.md"))
    shown = set(re.findall(r"^::: graphtrial\.(?:\w+\.)*(\w+)$", text, re.MULTILINE))
    shown |= {f"{kind.upper()}" for kind in re.findall(r"^::: registered (\w+)$", text, re.MULTILINE)}
    modules = {name for name in gt.__all__ if name.islower() and not callable(getattr(gt, name))}
    assert set(gt.__all__) - shown - modules - {"PROTOCOLS", "DATASETS", "__version__"} == set()


def test_links_to_pages_outside_the_folder_become_pages_of_the_site() -> None:
    outside = {"README.md": "index.md", "benchmarks/RESULTS.md": "benchmarks.md"}
    assert on_site("[a](docs/faq.md#b)", "README.md", "index.md", outside) == "[a](faq.md#b)"
    assert on_site("[s](../benchmarks/RESULTS.md)", "docs/faq.md", "faq.md", outside) == "[s](benchmarks.md)"
    assert on_site("[home](../../README.md)", "docs/api/data.md", "api/data.md", outside) == "[home](../index.md)"
    assert on_site("[t](../tests/test_docs.py)", "docs/faq.md", "faq.md", outside) == "t (`tests/test_docs.py`)"
    assert on_site("[x](https://arxiv.org/abs/1)", "docs/faq.md", "faq.md", outside) == "[x](https://arxiv.org/abs/1)"
    assert on_site("[t](a-b.py)", "docs/tutorials/index.md", "tutorials/index.md", outside) == "[t](a-b.md)"
    picture = "[![p](docs/img/report.png)](docs/faq.md)"
    assert on_site(picture, "README.md", "index.md", outside) == "[![p](img/report.png)](faq.md)"
    code = "```text\n[a](../README.md)\n```"
    assert on_site(code, "docs/faq.md", "faq.md", outside) == code


def test_the_check_of_a_site_finds_broken_links_anchors_and_addresses(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<h1 id="top">A</h1><a href="b.html#there">good</a><a href="#top">good</a><a href="b.html#gone">bad</a>'
        '<a href="c.html">bad</a><a href="https://arxiv.org">fine</a><script src="https://cdn.example/x.js"></script>'
    )
    (tmp_path / "b.html").write_text('<p id="there">B</p><img src="missing.png">')
    (tmp_path / "s.css").write_text("@import 'https://fonts.example/f.css';")
    output = sorted(problems(tmp_path))
    assert [line.split(" ", 1)[1] for line in output] == [
        "links to b.html#gone, which has no such anchor",
        "links to c.html, which is not there",
        "loads https://cdn.example/x.js",
        "links to missing.png, which is not there",
        "loads @import 'https://fonts.example/f.css",
    ]


def test_the_check_of_a_site_knows_its_place_on_a_server(tmp_path: Path) -> None:
    (tmp_path / "404.html").write_text('<a href="/project/a.html">good</a><a href="/project/b.html">bad</a>')
    (tmp_path / "a.html").write_text("A")
    assert list(problems(tmp_path, "/project/")) == ["404.html links to /project/b.html, which is not there"]


def test_a_page_is_described_by_its_first_paragraph() -> None:
    start = "Rings &amp; chords: " + "what <em>tells</em>\nthem apart, "
    assert description(f"<h1>T</h1><p><a>Notebook</a></p><p>{start}really.</p><p>Second, which is long, too.</p>") == (
        "Rings & chords: what tells them apart, really."
    )
    long = description(f"<p>{start * 20}</p>")
    assert len(long) <= 204
    assert long.endswith(" ...")
    assert description("<p>short</p>") == ""


def test_an_executed_notebook_becomes_a_page_with_its_outputs() -> None:
    cells = [
        {"cell_type": "markdown", "source": "# Title\n\nText"},
        {
            "cell_type": "code",
            "source": "print(1)",
            "outputs": [
                {"output_type": "stream", "name": "stdout", "text": "\x1b[1m1\x1b[0m\n"},
                {"output_type": "stream", "name": "stderr", "text": "a warning"},
                {"output_type": "execute_result", "data": {"text/plain": "2", "text/html": "<b>2</b>\n"}},
                {"output_type": "display_data", "data": {"image/png": "aGk="}},
            ],
        },
    ]
    pictures: dict[str, bytes] = {}
    text = page({"cells": cells}, "name", pictures)
    assert text.startswith("# Title\n\n[Notebook](name.ipynb)")
    assert "```python\nprint(1)\n```\n\n``` {.text .output}\n1\n```" in text
    assert '<div class="output"><b>2</b></div>' in text
    assert "a warning" not in text
    assert pictures == {"name/1.png": b"hi"}


def test_formulas_of_docstrings_become_blocks_and_mathml() -> None:
    griffe = pytest.importorskip("griffe", reason="extra docs")
    pytest.importorskip("latex2mathml", reason="extra docs")
    from tools.docs.docstrings import to_markdown
    from tools.docs.formulas import display, inline

    assert griffe
    written = to_markdown("A layer.\n\n.. math:: a = b, \\quad\n    c\n\nWith :math:`x_i`.")
    assert "```math\na = b, \\quad\nc\n```" in written
    assert "`#!math x_i`" in written
    assert display("a = b, \\quad c").count("<math") == 2
    assert display(r"\begin{cases} a & b \\ \quad c \end{cases}").count("<math") == 1
    assert "<msub>" in inline("x_i")
