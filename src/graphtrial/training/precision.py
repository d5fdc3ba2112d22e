"""Precision of matrix products: 32 bits, TF32, or bfloat16 by automatic mixed precision."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch

from graphtrial.core.errors import GraphTrialError
from graphtrial.core.hardware.devices import device_settings
from graphtrial.training.rules import Precision


def precision_settings(precision: Precision, device: torch.device) -> AbstractContextManager[None]:
    """Return the settings of a training with this precision on a device."""
    if precision == "tf32" and device.type != "cuda":
        raise GraphTrialError(f"NVIDIA GPUs alone have tf32, not {device.type}: use --device cuda, or precision 32")
    return device_settings(device, tf32=precision == "tf32")


def autocast(precision: Precision, device: torch.device) -> AbstractContextManager[Any]:
    """Return the context of a forward pass: matrix products in bfloat16, or as they are."""
    return torch.autocast(device.type, torch.bfloat16) if precision == "bf16" else nullcontext()
