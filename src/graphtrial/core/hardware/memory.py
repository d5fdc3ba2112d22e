"""Memory that is available to this process."""

from __future__ import annotations

from pathlib import Path


def available_bytes() -> int:
    """Return the memory available to this process: the system's, or less under a cgroup limit."""
    limits = [free for free in (_system_bytes(), _group_bytes()) if free is not None]
    return min(limits) if limits else 1 << 62


def _system_bytes(path: Path = Path("/proc/meminfo")) -> int | None:
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    amounts = {name: rest.split() for name, _, rest in (line.partition(":") for line in lines)}
    return int(amounts["MemAvailable"][0]) * 1024 if "MemAvailable" in amounts else None


def _group_bytes(folder: Path = Path("/sys/fs/cgroup")) -> int | None:
    try:
        limit = (folder / "memory.max").read_text(encoding="ascii").strip()
        used = int((folder / "memory.current").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
    return None if limit == "max" else max(0, int(limit) - used)
