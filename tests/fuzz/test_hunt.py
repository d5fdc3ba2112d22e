"""The whole command line and study files: every command gives a result or a one-line error, never a traceback."""

from __future__ import annotations

import json

import pytest
from tests.fuzz.commands import commands
from tests.fuzz.hunt import hunt
from tests.helpers.tally import Tally

pytestmark = pytest.mark.slow

SHORT = {"commands": 40, "studies": 60}


@pytest.mark.parametrize("kind", ["commands", "studies"])
def test_commands_never_print_a_traceback(kind: str, request: pytest.FixtureRequest, tally: Tally) -> None:
    if request.config.getoption("--long"):
        actual = hunt(kind, seconds=request.config.getoption("--fuzz-seconds") / len(SHORT), seed=1)
    else:
        actual = hunt(kind, count=SHORT[kind])
    assert not actual.faults, json.dumps(actual.faults[:5], indent=1)
    assert actual.commands >= SHORT[kind]
    description = "command lines of all commands and options" if kind == "commands" else "corrupted study files"
    tally.add("malformed input", description, "a result or a one-line error, no traceback, no hang", actual.commands)


def test_fuzz_grammar_covers_every_command() -> None:
    registered = commands()
    assert {("run",), ("data", "import"), ("store", "merge"), ("validate",), ("wikics", "build")} <= set(registered)
    assert all(isinstance(parameters, list) for parameters in registered.values())


def test_fuzzer_detects_a_planted_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.fuzz import child

    from graphtrial.cli import listing

    def broken(*args: object) -> None:
        raise KeyError("broken")

    monkeypatch.setattr(listing, "print_json", broken)
    assert "internal error" in str(child.fault_of(["list", "protocols", "--json"]))
    assert child.fault_of(["list", "no-such-kind"]) is None
