"""The browser that draws pictures and tests pages."""

from __future__ import annotations

import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def find_chromium() -> str | None:
    """Return the path of an installed Chromium; `None` where there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)
