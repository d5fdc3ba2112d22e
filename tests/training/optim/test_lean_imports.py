"""No component and no worker imports torch's compiler, and declaring one does not import torch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BUILT = """
import sys, torch
import graphtrial.execution.preload
from graphtrial.training.optim import OPTIMIZERS, SCHEDULES
from graphtrial.training.optim.base import Run
REQUIRED = {"polynomial": {"total_steps": 9}, "step": {"step_size": 2}, "plateau": {"factor": 0.5, "patience": 1}}
for name in OPTIMIZERS:
    for schedule in SCHEDULES:
        weight = torch.nn.Parameter(torch.ones(3))
        optimizer = OPTIMIZERS.get(name)(lr=0.1).build([weight])
        scheduler = SCHEDULES.get(schedule)(**REQUIRED.get(schedule, {})).build(optimizer, Run(4, max_epochs=10))
        for _ in range(2):
            optimizer.zero_grad()
            weight.square().sum().backward()
            torch.nn.utils.clip_grad_norm_([weight], 0.5)
            optimizer.step()
            scheduler.step(1.0)
        optimizer.load_state_dict(optimizer.state_dict())
        scheduler.load_state_dict(scheduler.state_dict())
from pathlib import Path
from graphtrial.execution import run_trials
from graphtrial.studies import ModelEntry, Study
from graphtrial.trials import Store
rows = (ModelEntry("gcn", {"width": 8, "layers": 1}),)
trials = Study("s", "csl", rows, seeds=1, splits=1, rules={"stopping.max_epochs": 1}).trials()
store = Store(Path(sys.argv[1]))
run_trials(trials, store, workers=0)
assert [record.status for record in store.trials()] == ["done"]
print("torch._dynamo" in sys.modules)
"""
DECLARED = """
import sys
from graphtrial.training import PROTOCOLS
for name in PROTOCOLS:
    PROTOCOLS.get(name).rules.flat()
print("torch" in sys.modules)
"""
LISTED = """
import sys
from graphtrial.cli.main import app
app(["list", "models", "--json"], standalone_mode=False)
sys.stdout.write("\\n" + str("sklearn" in sys.modules))
"""


@pytest.mark.parametrize("code", [BUILT, DECLARED, LISTED], ids=["torch._dynamo", "torch", "sklearn"])
def test_torch_dynamo_is_not_imported(code: str, tmp_path: Path) -> None:
    line = [sys.executable, "-c", code, str(tmp_path / "s.sqlite")]
    done = subprocess.run(line, check=True, capture_output=True, text=True)
    assert done.stdout.split()[-1] == "False"
