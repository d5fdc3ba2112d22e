"""Progress is shown on a terminal only, and only when it takes long."""

from __future__ import annotations

import io

import pytest

from graphtrial.core import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("terminal", "patience", "shown"), [(True, 0.0, True), (True, 60.0, False), (False, 0.0, False)]
)
def test_progress_bar_appears_on_terminals_for_long_work(
    terminal: bool, patience: float, shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr(progress, "SHOW_AFTER_SECONDS", patience - 0.01)
    monkeypatch.setenv("TERM", "xterm")
    assert list(progress.track(range(5), "counting", 5)) == [0, 1, 2, 3, 4]
    assert ("counting" in stream.getvalue()) == shown
