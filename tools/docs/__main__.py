"""Build the site: tutorials, pages, the shipped report, and a check of every link."""

from __future__ import annotations

import argparse
import logging
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

from mkdocs.commands.build import build
from mkdocs.config import load_config

from tools.docs.check import problems
from tools.docs.notebooks import NOTEBOOKS, OUTPUT, ROOT, execute


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.docs", description=__doc__)
    parser.add_argument(
        "--reuse", action="store_true", help="keep the outputs of tutorials that were not changed since"
    )
    options = parser.parse_args()
    for source in NOTEBOOKS:
        page = OUTPUT / f"{source.stem}.md"
        if options.reuse and page.exists() and page.stat().st_mtime > source.stat().st_mtime:
            continue
        print(f"{source.name}: {execute(source):.0f} s", flush=True)
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(message)s")
    began = time.perf_counter()
    config = load_config(str(ROOT / "mkdocs.yml"))
    build(config)
    site = Path(config.site_dir)
    print(f"pages: {time.perf_counter() - began:.0f} s", flush=True)
    report = [sys.executable, "-m", "graphtrial", "report", "--shipped", "--out", str(site / "report")]
    address = config.site_url or ""
    subprocess.run([*report, *(["--url", f"{address}report/"] if address else [])], check=True)
    broken = list(problems(site, urlsplit(address).path or "/"))
    print(*broken, f"{site / 'index.html'}: {len(broken)} broken links", sep="\n")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
