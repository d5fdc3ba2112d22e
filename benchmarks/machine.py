"""Environment of a run: CPU, cores, memory, load, versions; no host or user names."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import platform
import resource
import sys
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("graphtrial", "torch", "torch_geometric", "numpy", "scipy", "numba")
STATUS = Path("/proc/self/status")


def cores() -> list[int]:
    """Return the cores this process may use."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(os.cpu_count() or 1))


def pin_to_one_core() -> None:
    """Pin this process with all its threads to one core (Linux only)."""
    if hasattr(os, "sched_setaffinity"):
        core = cores()[-1]
        for task in Path("/proc/self/task").iterdir():
            os.sched_setaffinity(int(task.name), {core})


def peak_bytes() -> int:
    """Return the peak resident memory of this process.

    On Linux from `VmHWM`: `ru_maxrss` survives `exec` and may be that of the parent.
    """
    if STATUS.exists():
        for line in STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def reset_peak() -> None:
    """Release freed memory and reset the peak to the current resident memory (Linux only)."""
    gc.collect()
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)
            Path("/proc/self/clear_refs").write_text("5")


def load_average() -> tuple[float, float, float]:
    """Return the load average of the last 1, 5 and 15 minutes."""
    return os.getloadavg()


def describe() -> dict[str, str]:
    """Return date, hardware and package versions as strings."""
    return {
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": f"{_processor()}, {len(cores())} cores, {_memory_gb():.0f} GB",
        "system": f"{platform.system()} {platform.machine()} {' '.join(platform.libc_ver())}".strip(),
        "versions": f"Python {platform.python_version()}, "
        + ", ".join(f"{name} {actual}" for name in PACKAGES if (actual := _version(name))),
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _memory_gb() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
