"""Speed of this machine relative to the one of the shipped timings: the cached factor, and what it depends on."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

from graphtrial.core.files import cache_home
from graphtrial.core.hardware.measurements import read_measurement, write_measurement
from graphtrial.core.plugins.packages import installed_version

LARGEST = 1000.0
"""Factors beyond this, or below its reciprocal, are taken for a damaged file."""


def processor_name() -> str:
    """Return the name of the processor."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def read_factor() -> float | None:
    """Return the cached factor; None if there is none, or if the file is damaged or of another machine."""
    values = read_measurement(_path(), {"factor", "machine"})
    if values is None or values["machine"] != _machine():
        return None
    factor = values["factor"]
    return factor if isinstance(factor, float) and 1 / LARGEST < factor < LARGEST else None


def write_factor(factor: float) -> None:
    """Cache the factor of this machine."""
    write_measurement(_path(), {"factor": factor, "machine": _machine()})


def _machine() -> dict[str, Any]:
    torch = installed_version("torch") or ""
    return {"cpu": processor_name(), "system": platform.system(), "cores": os.cpu_count(), "torch": torch}


def _path() -> Path:
    return cache_home() / "calibration.json"
