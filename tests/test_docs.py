from __future__ import annotations

import re
from pathlib import Path

import pytest

import graphtrial as gt
from graphtrial.studies import load_study

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(language: str) -> list[tuple[str, str]]:
    """Return the code blocks of one language in all pages, with the name of the page."""
    return [
        (page.name, block)
        for page in PAGES
        for block in re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    ]


# The blocks of that page are plug-ins, which tests/test_plugins.py runs as such.
SCRIPTS = [(page, block) for page, block in blocks("python") if page != "add-a-model.md"]


@pytest.mark.parametrize(("page", "block"), SCRIPTS)
def test_every_python_block_runs(page: str, block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(block, page, "exec"), {})  # noqa: S102 - our own documents


@pytest.mark.parametrize(("page", "block"), blocks("toml"))
def test_every_study_in_the_documents_has_a_plan(page: str, block: str, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(block, encoding="utf-8")
    assert load_study(str(tmp_path / "study.toml")).trials()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if "://" not in target and not (page.parent / target).exists()] == []


def test_every_public_name_is_there() -> None:
    assert all(getattr(gt, name) is not None for name in gt.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        gt.nothing  # noqa: B018
