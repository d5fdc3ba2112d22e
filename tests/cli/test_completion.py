"""Shell completion: names of the index, through the protocol of the shell."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.helpers.cli import CliRunner

from graphtrial.cli.completion import complete_dataset, complete_encoding, complete_model, complete_study
from graphtrial.cli.main import app
from graphtrial.core.files import custom_home
from graphtrial.core.registry import Registry
from graphtrial.datasets import DATASETS
from graphtrial.nn import MODELS
from graphtrial.studies import catalog


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("graphtrial run zin", "zinc"),
        ("graphtrial run zinc gatedg", "gatedgcn"),
        ("graphtrial tune csl gatv", "gatv2"),
        ("graphtrial study bgnn-v5/table-1", "bgnn-v5/table-10"),
        ("graphtrial kernel mutag w", "wl"),
        ("graphtrial params zinc graphs", "graphsage"),
        ("graphtrial run csl gcn --encoding lapl", "laplacian"),
        ("graphtrial run csl gcn --protocol bgnn-v5/c", "bgnn-v5/csl"),
        ("graphtrial list mod", "models"),
        ("graphtrial data prepare cs", "csl"),
    ],
)
def test_shell_completes_names(words: str, expected: str) -> None:
    env = {
        "_GRAPHTRIAL_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    result = CliRunner().invoke(app, [], env=env, prog_name="graphtrial")
    assert expected in result.output.split()


def names_of_the_package(registry: Registry[Any]) -> set[str]:
    """Return the names of a registry without those that other tests registered."""
    return {name for name in registry.names() if registry.get(name).__module__.startswith("graphtrial.")}


def test_every_name_is_completed() -> None:
    assert names_of_the_package(DATASETS) <= set(complete_dataset(""))
    assert names_of_the_package(MODELS) <= set(complete_model(""))
    assert set(catalog()) <= set(complete_study(""))


def test_own_datasets_study_files_and_second_encodings(
    own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    custom_home().mkdir(parents=True, exist_ok=True)
    (custom_home() / "mine.json").write_text("{}")
    assert "mine" in complete_dataset("mi")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.toml").write_text("")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "inner.toml").write_text("")
    (tmp_path / "other.txt").write_text("")
    assert complete_study("o") == ["own/", "own.toml"]
    assert complete_study("own/") == ["own/inner.toml"]
    assert complete_study("nowhere/at/all") == []
    assert complete_encoding("rwse:20+lapl")[0].startswith("rwse:20+laplacian")


def test_completion_imports_no_registry() -> None:
    code = (
        "import sys; from graphtrial.cli.main import app; from graphtrial.cli.completion import complete_model; "
        "assert complete_model('g'); sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
