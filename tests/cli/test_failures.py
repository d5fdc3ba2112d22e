"""One-line errors and exit codes: full disk, closed pipe, deleted folder, internal error."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.helpers.cli import CliRunner

from graphtrial.cli import failures, listing
from graphtrial.cli.main import app
from graphtrial.core.files import DEFAULT_STORE
from graphtrial.trials import Store

LIST = [sys.executable, "-m", "graphtrial", "list", "protocols"]  # which does not import torch


def run(words: list[str], **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, text=True, check=False, timeout=300, **options)  # type: ignore[call-overload, no-any-return]


def shell(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return run(["bash", "-c", script, "bash", *LIST], capture_output=True, cwd=folder)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("words", ['"$@"', '"$@" --json', '"$@" --help'])
def test_full_disk_gives_one_line_error(words: str, tmp_path: Path) -> None:
    done = shell(f"{words} > /dev/full", tmp_path)
    assert (done.returncode, done.stderr) == (2, "graphtrial: system error: No space left on device\n")
    assert shell(f"{words} > /dev/full 2> /dev/full", tmp_path).returncode == 2


PRINTING = """
import torch
import graphtrial as gt

@gt.MODELS.register("printing")
class Printing(torch.nn.Module):
    def __init__(self, shapes: gt.Shapes) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(1, shapes.outputs)

    def forward(self, graph):
        print("x" * 100_000)
        return self.linear(torch.ones(graph.num_graphs, 1))
"""


def closed_pipe() -> int:
    """Return the write end of a pipe without a reader."""
    reader, writer = os.pipe()
    os.close(reader)
    return writer


@pytest.mark.parametrize("words", [[], ["--json"], ["--help"]], ids=["table", "json", "help"])
@pytest.mark.parametrize("errors_too", [False, True], ids=["stdout", "both"])
def test_closed_pipe_exits_silently(words: list[str], errors_too: bool, tmp_path: Path) -> None:
    pipe = closed_pipe()
    done = run([*LIST, *words], stdout=pipe, stderr=pipe if errors_too else subprocess.PIPE, cwd=tmp_path)
    os.close(pipe)
    assert done.returncode == (1 if words == ["--help"] else failures.PIPE_CLOSED)  # click ends its help by 1
    assert not done.stderr


@pytest.mark.parametrize("workers", ["0", "1"])
def test_closed_pipe_of_a_training_exits_silently(workers: str, tmp_path: Path) -> None:
    (tmp_path / "printing.py").write_text(PRINTING, encoding="utf-8")
    words = [
        "run",
        "csl",
        "printing",
        "--plugin",
        "printing.py",
        "--seeds",
        "1",
        "--splits",
        "1",
        "--workers",
        workers,
        "--json",
    ]
    pipe = closed_pipe()
    done = run([*LIST[:3], *words], stdout=pipe, stderr=subprocess.PIPE, cwd=tmp_path)
    os.close(pipe)
    assert (done.returncode, done.stderr) == (failures.PIPE_CLOSED, "")
    statuses = [record.status for record in Store(tmp_path / DEFAULT_STORE).trials()]
    assert statuses == ["interrupted"]  # not failed: the model is not to blame


def test_another_broken_pipe_is_reported() -> None:
    assert failures.failure(BrokenPipeError(32, "Broken pipe")) == ("system error: Broken pipe", failures.REFUSED)


def test_closed_standard_streams_do_not_fail(tmp_path: Path) -> None:
    assert shell('"$@" >&-', tmp_path).returncode == 0
    assert shell('"$@" >&- 2>&-', tmp_path).returncode == 0


def test_deleted_working_directory_gives_one_line_error(tmp_path: Path) -> None:
    done = shell('mkdir gone && cd gone && rmdir ../gone && "$@"', tmp_path)
    assert done.returncode == 2
    assert done.stderr == "graphtrial: the current folder was deleted: change to another one\n"


def test_undecodable_text_is_printed_escaped(tmp_path: Path) -> None:
    done = run([*LIST[:3], "validate", os.fsdecode(b"\xff.toml")], capture_output=True, cwd=tmp_path)
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (MemoryError(), 2, "out of memory: MemoryError"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory"), 2, "out of memory"),
        (PermissionError(13, "Permission denied", "/root/x"), 2, "system error: Permission denied (/root/x)"),
        (KeyboardInterrupt(), 130, "stopped"),
        (
            RecursionError("too deep"),
            70,
            "internal error, please report this bug of graphtrial: RecursionError",
        ),
        (KeyError("a\nb"), 70, "internal error, please report this bug of graphtrial: KeyError"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_exception_gives_one_line_and_exit_code(
    error: BaseException, code: int, words: str, monkeypatch: pytest.MonkeyPatch, own_home: Path
) -> None:
    monkeypatch.chdir(own_home.parent)

    def fail(*args: object) -> None:
        raise error

    monkeypatch.setattr(listing, "print_json", fail)
    result = CliRunner().invoke(app, ["list", "protocols", "--json"])
    assert result.exit_code == code
    assert result.stderr.startswith(f"graphtrial: {words}")
    assert result.stderr.count("\n") == 1
    assert (own_home / "last-traceback.txt").exists() == (code == failures.INTERNAL)
    if code == failures.INTERNAL:
        assert "in fail" in (own_home / "last-traceback.txt").read_text(encoding="utf-8")
