"""Which file systems get a write-ahead log."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphtrial.trials.store import journal

MOUNTS = """\
22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 22 0:40 / {home} rw shared:7 - {kind} server:/export rw
31 22 0:41 / {home}/a\\040b rw - tmpfs tmpfs rw
a line that is none
"""


@pytest.mark.parametrize(("kind", "local"), [("nfs4", False), ("fuse.sshfs", False), ("xfs", True), ("new", False)])
def test_only_known_local_file_systems_are_local(
    kind: str, local: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, mounts = tmp_path.resolve() / "home", tmp_path / "mountinfo"
    mounts.write_text(MOUNTS.format(home=home, kind=kind))
    monkeypatch.setattr(journal, "MOUNTS", mounts)
    assert journal.is_local(home / "me" / "s.sqlite") is local
    assert journal.is_local(tmp_path / "s.sqlite")
    assert journal.is_local(home / "a b" / "s.sqlite")
    monkeypatch.setattr(journal, "MOUNTS", tmp_path / "none")
    assert not journal.is_local(tmp_path / "s.sqlite")
