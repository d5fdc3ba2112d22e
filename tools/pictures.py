"""Draw the picture of the report in the README and that of link previews: `python -m tools.pictures`.

Both are screenshots, taken by Chromium: of the shipped report, as `graphtrial report --shipped` writes it, and of
`tools/preview.svg`.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from graphtrial.core.files import atomic_path
from tools.chromium import find_chromium

ROOT = Path(__file__).parents[1]
COLORS = 64
"""A palette: a screenshot of text has few colors, and a picture in the repository should be small."""


def main() -> None:
    """Write both pictures."""
    parser = argparse.ArgumentParser(prog="python -m tools.pictures", description=__doc__)
    parser.add_argument("--report", type=Path, help="folder of a report that was written before")
    report: Path | None = parser.parse_args().report
    program = find_chromium()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        if report is None:
            report = Path(folder)
            command = [sys.executable, "-m", "graphtrial", "report", "--shipped", "--out", str(report)]
            subprocess.run(command, check=True)
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = report.resolve() / "datasets" / "csl.html"
        screenshot(browser, page, ROOT / "docs" / "img" / "report.png", 1280, 526, scale=1.25, start="h2")
        preview = ROOT / "src" / "graphtrial" / "report" / "static" / "preview.png"
        screenshot(browser, ROOT / "tools" / "preview.svg", preview, 1200, 630)
        browser.close()


def screenshot(
    browser: Browser, page: Path, target: Path, width: int, height: int, scale: float = 1, start: str = ":root"
) -> None:
    """Write a page from the first element `start` on, as it looks in a window of this size, in light colors."""
    context = browser.new_context(
        viewport={"width": width, "height": height}, device_scale_factor=scale, color_scheme="light"
    )
    tab = context.new_page()
    tab.goto(page.as_uri())
    tab.locator(start).first.evaluate("(element) => element.scrollIntoView()")
    image = Image.open(io.BytesIO(tab.screenshot())).convert("RGB")
    context.close()
    with atomic_path(target) as path:
        image.quantize(COLORS, dither=Image.Dither.NONE).save(path, "PNG", optimize=True)
    print(f"{target.relative_to(ROOT)}: {image.width} x {image.height}, {target.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
