"""No component imports torch's compiler, and declaring one does not import torch."""

from __future__ import annotations

import subprocess
import sys

import pytest

BUILT = """
import sys, torch
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
print("torch._dynamo" in sys.modules)
"""
DECLARED = """
import sys
from graphtrial.training import PROTOCOLS
for name in PROTOCOLS:
    PROTOCOLS.get(name).rules.flat()
print("torch" in sys.modules)
"""


@pytest.mark.parametrize("code", [BUILT, DECLARED], ids=["torch._dynamo", "torch"])
def test_a_module_that_is_not_needed_is_not_imported(code: str) -> None:
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "False"
