"""Distribution of tests over processes: tests with shared state run in one."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from xdist.scheduler import LoadScopeScheduling

ROOT = Path(__file__).parents[2]
GROUPED = ('scope="module"', "pytest.mark.one_process")
"""What a file says that makes something for all its tests, or whose tests must not run side by side."""


class Sharing(LoadScopeScheduling):
    """A test with all its parameters goes to one process, and so does a file whose tests belong together."""

    def _split_scope(self, nodeid: str) -> str:
        test = nodeid.partition("[")[0]
        file = test.partition("::")[0]
        return file if _belongs_together(file) else test


@cache
def _belongs_together(file: str) -> bool:
    text = (ROOT / file).read_text(encoding="utf-8")
    return any(word in text for word in GROUPED)
