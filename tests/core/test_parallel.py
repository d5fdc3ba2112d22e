"""Results do not depend on the number of processes, also in scripts without a main guard."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.parallel import map_in_order

SCRIPT = """
import os, sys
sys.path.insert(0, {folder!r})
from graphtrial.core.parallel import map_in_order
from helper_of_test import square
print("started")
print(list(map_in_order(square, range(7), "squaring", workers=2)))
"""


def test_results_do_not_depend_on_the_number_of_processes(tmp_path: Path) -> None:
    assert list(map_in_order(str, [3, 1, 2], "writing", workers=1)) == ["3", "1", "2"]
    assert list(map_in_order(str, [3, 1, 2], "writing", workers=2)) == ["3", "1", "2"]


@pytest.mark.slow
def test_script_without_main_guard_is_not_rerun_by_workers(tmp_path: Path) -> None:
    (tmp_path / "helper_of_test.py").write_text("def square(x):\n    return x * x\n")
    (tmp_path / "script.py").write_text(SCRIPT.format(folder=str(tmp_path)))
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, str(tmp_path / "script.py")], capture_output=True, text=True, check=True, env=environment
    )
    assert done.stdout == "started\n[0, 1, 4, 9, 16, 25, 36]\n"


def test_killed_worker_raises() -> None:
    with pytest.raises(GraphTrialError, match="counting stopped because a worker process was killed"):
        list(map_in_order(os._exit, [1, 1], "counting", workers=2))
