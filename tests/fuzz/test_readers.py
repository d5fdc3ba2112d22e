"""Malformed files of every format: read, or a one-line error; no traceback, hang or memory blow-up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fuzz.fuzzing import fuzz
from tests.fuzz.readers import READERS
from tests.helpers.tally import Tally

pytestmark = pytest.mark.slow

SHORT, LONG = 60, 10_000
LIMITED = """
import json, resource, sys
from dataclasses import asdict
resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
from tests.fuzz.fuzzing import fuzz
print(json.dumps(asdict(fuzz(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))))
"""


@pytest.mark.parametrize("name", READERS)
def test_malformed_files_are_read_or_give_one_line_error(
    name: str, request: pytest.FixtureRequest, tally: Tally
) -> None:
    needed = READERS[name].needs
    if needed is not None:
        pytest.importorskip(needed)
    if not request.config.getoption("--long"):
        report = fuzz(name, SHORT, seed=0)
        assert report.faults == []
        assert report.read + report.refused == SHORT
        return
    root = Path(__file__).parents[2]
    line = [sys.executable, "-c", LIMITED, name, str(LONG), "1"]
    done = subprocess.run(line, capture_output=True, text=True, cwd=root, env={**os.environ}, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["faults"] == []
    counts = f"{result['refused']:,} rejected with a one-line error, {result['read']:,} read"
    limits = f"slowest {result['slowest']:.2f} s, memory grew by {result['grown'] / 1e6:.0f} MB"
    tally.add("malformed input", name, f"{counts}; {limits}", LONG)
