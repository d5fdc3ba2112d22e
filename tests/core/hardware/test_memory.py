"""Memory available to a process."""

from __future__ import annotations

from pathlib import Path

from graphtrial.core.hardware import memory


def test_free_memory_respects_the_control_group(tmp_path: Path) -> None:
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:    5 kB\n")
    assert memory._system_bytes(tmp_path / "meminfo") == 5 * 1024
    assert memory._system_bytes(tmp_path / "none") is None
    assert memory._group_bytes(tmp_path) is None
    (tmp_path / "memory.current").write_text("300\n")
    for limit, free in (("max", None), ("1000", 700), ("200", 0)):
        (tmp_path / "memory.max").write_text(limit + "\n")
        assert memory._group_bytes(tmp_path) == free
    assert memory.available_bytes() > 0
