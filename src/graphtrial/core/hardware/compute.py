"""Where and how trials are computed: device, threads, compilation; no part of their specification."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Annotated

from graphtrial.core.arguments import PositiveInt, Range
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.parallel import cores, threads_per_trial
from graphtrial.core.signatures import check_fields

DEVICE = re.compile(r"auto|cpu|mps|cuda(:\d{1,3})?")
"""Notations of devices; `auto` is a GPU where there is one, `cuda` stands for all of them."""
Threads = Annotated[int, Range(1, 4096)]
PerDevice = Annotated[int, Range(1, 256)]


@dataclass(frozen=True)
class Compute:
    """Where and how trials are computed.

    device: `auto` for a GPU where there is one, `cpu`, `cuda` for all GPUs, `cuda:N` for one of them, or `mps`.
    threads: threads of each trial on the CPU; by default the cores, divided among concurrent trials, and at
        most the environment variable `OMP_NUM_THREADS`.
    per_device: concurrent trials on each GPU.
    compile: compile whole models by `torch.compile`, which rounds differently.
    portable: compute on the CPU by the operators for other devices, as tests do.
    pause_at: the epoch after which a training pauses, to be resumed to the same bits; successive halving sets it.
    """

    device: str = "auto"
    threads: Threads | None = None
    per_device: PerDevice = 1
    compile: bool = False
    portable: bool = False
    pause_at: PositiveInt | None = None

    def __post_init__(self) -> None:
        check_fields(self, "the computation")
        if not DEVICE.fullmatch(self.device):
            raise GraphTrialError(f"no device called '{self.device}': use auto, cpu, cuda, cuda:N or mps")

    @property
    def kind(self) -> str:
        """The kind of device: auto, cpu, cuda or mps."""
        return self.device.partition(":")[0]

    def devices(self) -> tuple[str, ...]:
        """Return the devices of this machine that are meant, such as `cuda:0` and `cuda:1`; none is an error."""
        if self.device == "cpu":
            return ("cpu",)
        gpus, mps = _cuda_devices(), _has_mps()
        if self.device == "auto":
            return gpus or (("mps",) if mps else ("cpu",))
        if self.device == "mps":
            if not mps:
                raise GraphTrialError(
                    "there is no mps device here, which Macs with Apple silicon have; use --device cpu"
                )
            return ("mps",)
        if not gpus:
            raise GraphTrialError(
                f"{self.device} is not there: torch finds no CUDA device; use --device cpu, or install torch for CUDA"
            )
        if self.device == "cuda":
            return gpus
        if self.device not in gpus:
            raise GraphTrialError(f"there is no {self.device} here, only {', '.join(gpus)}")
        return (self.device,)

    def slots(self, workers: int | None = None) -> list[str]:
        """Return the device of each concurrent trial, at most `workers` of them."""
        devices = self.devices()
        if devices == ("cpu",):
            return ["cpu"] * (workers or cores())
        slots = [device for _ in range(self.per_device) for device in devices]
        return slots[:workers] if workers else slots

    def placed(self, device: str | None = None, at_once: int = 1) -> Compute:
        """Return the computation of one trial, on one device and with a number of threads."""
        threads = self.threads or threads_per_trial(at_once)
        return replace(self, device=device or self.devices()[0], threads=threads)


AUTOMATIC = Compute()
"""A GPU where there is one, or the cores of the CPU, divided among concurrent trials."""
ONE_CORE = Compute("cpu", threads=1)
"""One thread on the CPU."""


def _cuda_devices() -> tuple[str, ...]:
    import torch

    return tuple(f"cuda:{number}" for number in range(torch.cuda.device_count())) if torch.cuda.is_available() else ()


def _has_mps() -> bool:
    import torch

    return torch.backends.mps.is_available()
