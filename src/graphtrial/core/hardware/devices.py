"""What differs between kinds of devices: facts, random generators, determinism and precision of torch."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor

WORKSPACE = "CUBLAS_WORKSPACE_CONFIG"
"""Environment variable that cuBLAS reads when a process first uses a GPU; deterministic products need it."""


def describe_device(device: str) -> dict[str, str]:
    """Return the kind of a device and, of a GPU, its name and the versions of its libraries."""
    kind = torch.device(device).type
    if kind != "cuda":
        return {"device": kind}
    facts = {"device": kind, "gpu": torch.cuda.get_device_name(device), "cuda": torch.version.cuda or "unknown"}
    return {**facts, "cudnn": str(torch.backends.cudnn.version() or "none")}


def device_name(device: torch.device) -> str:
    """Return the kind of a device and the name of a GPU, such as `cpu` or `cuda (NVIDIA A100)`."""
    facts = describe_device(str(device))
    return f"{facts['device']} ({facts['gpu']})" if "gpu" in facts else facts["device"]


@contextmanager
def device_settings(device: torch.device, tf32: bool = False) -> Iterator[None]:
    """Use deterministic algorithms where they exist, and products in 32 bits or TF32, on a GPU inside the block.

    An operator without a deterministic algorithm warns and runs. On the CPU nothing changes: there every operator is
    deterministic.
    """
    if device.type == "cpu":
        yield
        return
    os.environ.setdefault(WORKSPACE, ":4096:8")
    if device.type == "cuda":
        torch.cuda.set_device(device)
    cudnn, matmul = torch.backends.cudnn, torch.backends.cuda.matmul
    before = cudnn.deterministic, cudnn.benchmark, cudnn.allow_tf32, matmul.allow_tf32
    algorithms = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(True, warn_only=True)
    cudnn.deterministic, cudnn.benchmark = True, False
    cudnn.allow_tf32 = matmul.allow_tf32 = tf32
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(algorithms[0], warn_only=algorithms[1])
        cudnn.deterministic, cudnn.benchmark, cudnn.allow_tf32, matmul.allow_tf32 = before


def random_states(device: torch.device) -> dict[str, Tensor]:
    """Return the states of the global random generators that a training on this device draws from, by kind of device.

    They are named by kind and not by number, so that a training can be resumed on another GPU.
    """
    states = {"torch": torch.get_rng_state()}
    if device.type == "cuda":
        states["cuda"] = torch.cuda.get_rng_state(device)
    elif device.type == "mps":
        states["mps"] = torch.mps.get_rng_state()
    return states


def set_random_states(states: Mapping[str, Tensor], device: torch.device) -> None:
    """Set the generators of this device to saved states; one without a state keeps its seed."""
    torch.set_rng_state(states["torch"])
    if device.type == "cuda" and "cuda" in states:
        torch.cuda.set_rng_state(states["cuda"], device)
    elif device.type == "mps" and "mps" in states:
        torch.mps.set_rng_state(states["mps"])


def free_memory(device: torch.device) -> None:
    """Return the cached memory of a GPU to the system, so that a trial after one that ran out of it can run."""
    if device.type == "cuda":
        torch.cuda.empty_cache()
    elif device.type == "mps":
        torch.mps.empty_cache()
