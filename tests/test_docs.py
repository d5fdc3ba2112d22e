"""Documentation: every code block runs, every link resolves, every public name exists."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.helpers.cli import CliRunner

import graphtrial as gt
from graphtrial.cli.main import app
from graphtrial.core.files import read_toml
from graphtrial.core.plugins import loader as plugins
from graphtrial.studies import load_study
from graphtrial.training import PROTOCOLS
from graphtrial.tuning.space_files import load_space

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCED = re.compile(r"(?:^<!-- ([^\n]*) -->\n)?^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MARK = re.compile(r"(?:not run|shortened by (?P<options>--[^:]+)): .{15,}")
"""What may stand before a block: that it is not run, or with which options, and why."""
FILE_NAME = re.compile(r'(?:"""|# )(\w+\.(?:py|toml))')
"""A block that begins so is a file of that name."""
SHELL = ("sh", "bash")
HARMLESS = ("echo", "cat", "ls")
"""Other commands than ours that a block may hold."""
TRAINS = ("run", "study", "kernel", "reproduce", "tune")


@dataclass(frozen=True)
class Block:
    """A fenced block, its language, and what was said before it."""

    mark: str
    language: str
    code: str

    @property
    def file(self) -> str | None:
        """The file that the block shows, if it shows one."""
        actual = FILE_NAME.match(self.code)
        return actual[1] if actual else None

    @property
    def options(self) -> list[str]:
        """The options by which its trainings are made shorter."""
        actual = MARK.fullmatch(self.mark)
        return shlex.split(actual["options"]) if actual and actual["options"] else []

    @property
    def commands(self) -> list[str]:
        """The lines of a block of commands, continued ones joined."""
        return [line for line in self.code.replace("\\\n", " ").splitlines() if shlex.split(line, comments=True)]


def blocks(page: Path) -> list[Block]:
    """Return the code blocks of a page, in order."""
    return [
        Block(mark or "", language, code) for mark, language, code in FENCED.findall(page.read_text(encoding="utf-8"))
    ]


@pytest.fixture
def staging_folder(tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder and a cache of this test's own; plug-ins are forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    before = set(plugins._loaded)
    yield tmp_path
    for path, plugin in list(plugins._loaded.items()):
        if path not in before:
            plugins.unload_plugin(plugin)


WITH_CODE = [page for page in PAGES if blocks(page)]


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.name)
def test_every_code_block_has_a_tested_language(page: Path) -> None:
    for block in blocks(page):
        assert block.language in ("python", "toml", "json", *SHELL, "text"), block.code
        assert not block.mark or block.language in SHELL, "only commands may be left out"
        assert not block.mark.startswith(("not run", "shortened")) or MARK.fullmatch(block.mark), block.mark


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.name)
def test_every_block_of_a_page_runs(page: Path, staging_folder: Path) -> None:
    actual = blocks(page)
    for block in actual:
        if block.file:
            (staging_folder / block.file).write_text(block.code, encoding="utf-8")
    for block in actual:
        if block.language == "python":
            if block.file:
                assert plugins.load_plugin(staging_folder / block.file).things
            else:
                exec(compile(block.code, page.name, "exec"), {})  # noqa: S102 - our own documents
        elif block.language == "toml":
            path = staging_folder / (block.file or "study.toml")
            path.write_text(block.code, encoding="utf-8")
            assert load_space(str(path), "gcn") if path.stem.endswith("space") else load_study(str(path)).trials()
        elif block.language == "json":
            json.loads(block.code)
        elif block.language in SHELL:
            for command in block.commands:
                obey(command, block)


def obey(command: str, block: Block) -> None:
    """Run a line of a block, or, in one that is not run, see that our command has these options."""
    words = shlex.split(command, comments=True)
    left_out = block.mark.startswith("not run")
    if words[0] != "graphtrial":
        assert left_out or words[0] in HARMLESS, f"'{command}' is not run by the test; say so and why"
        if not left_out:
            subprocess.run(["bash", "-ec", command], check=True, timeout=20)
        return
    words = words[1:]
    if left_out:
        words.append("--help")
    elif words[0] in TRAINS:
        words += [
            *(block.options if words[0] in ("run", "tune") else []),
            *([] if "--dry-run" in words else ["--workers", "0"]),
        ]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, f"{command}\n{result.output}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_resolve(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if "://" not in target and not (page.parent / target).exists()] == []


PATH = re.compile(r"(?<![\w./~-])(?:src|tests|tools|docs|benchmarks|examples)/[\w./-]*\w(?![\w/]*\*)")
"""A path of the repository, without wildcards."""
PLACEHOLDERS = {"tests/a/b/test_x.py", "src/graphtrial/a/b/x.py"}
"""Paths that stand for any file."""


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=lambda page: page.name)
def test_paths_that_pages_name_exist(page: Path) -> None:
    paths = set(PATH.findall(page.read_text(encoding="utf-8"))) - PLACEHOLDERS
    assert sorted(path for path in paths if not (ROOT / path).exists()) == []


def test_every_page_of_the_documents_is_linked_from_the_first_ones() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in (*PAGES[:2], ROOT / "docs" / "quickstart.md"))
    assert [page.name for page in PAGES[2:] if f"docs/{page.name})" not in text and f"]({page.name})" not in text] == []


def test_every_extra_is_documented() -> None:
    declared = read_toml(ROOT / "pyproject.toml", "the project")["project"]["optional-dependencies"]
    section = (ROOT / "docs" / "quickstart.md").read_text(encoding="utf-8").partition("\n## Extras")[2]
    names = [name for line in re.findall(r"^\| (`.*?) \|", section, re.MULTILINE) for name in line.split(", ")]
    assert sorted(names) == sorted(f"`{name}`" for name in declared)


def test_documented_protocols_match_the_registry() -> None:
    lines = (ROOT / "docs" / "protocols.md").read_text(encoding="utf-8").splitlines()
    rows = [
        [cell.strip(" `") for cell in line.strip("|").split("|")]
        for line in lines
        if line.startswith(("| `bgnn", "| `tud"))
    ]
    assert len(rows) > 20
    for name, *output in rows:
        protocol = PROTOCOLS.get(name)
        rules = protocol.rules.flat()
        keys = ("batch_size", "optimizer.lr", "schedule.patience", "stopping.min_lr", "stopping.max_epochs")
        keys += ("stopping.max_hours", "evaluate", "monitor")
        facts = [rules.get(key, "-") for key in keys] + [len(protocol.seeds), protocol.splits]
        assert output == [fact if isinstance(fact, str) else f"{fact:g}" for fact in facts], name
    trained = {name for name in PROTOCOLS if name.startswith(("bgnn-v5", "tudataset")) and "kernel" not in name}
    assert trained == {row[0] for row in rows}


def test_every_public_name_is_there() -> None:
    assert all(getattr(gt, name) is not None for name in gt.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        gt.nothing  # noqa: B018
