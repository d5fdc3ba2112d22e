"""URLs of pages, relative to the root of the site, and the absolute ones of a published site."""

from __future__ import annotations

import hashlib
import re
from html import escape
from pathlib import Path

from graphtrial.core.errors import GraphTrialError
from graphtrial.trials.store import TrialRecord


def trial_page(trial: TrialRecord) -> str:
    """Return the URL of the page of a trial."""
    return f"trials/{file_name(trial.id)}.html"


def table_page(paper: str, number: int) -> str:
    """Return the URL of the page of a published table."""
    return f"papers/{paper}-table-{number}.html"


def paper_page(paper: str) -> str:
    """Return the URL of the page of a paper without tables of a known layout."""
    return f"papers/{paper}.html"


def dataset_page(dataset: str) -> str:
    """Return the URL of the page of a dataset."""
    return f"datasets/{file_name(dataset)}.html"


def model_page(model: str) -> str:
    """Return the URL of the page of a model."""
    return f"models/{file_name(model)}.html"


def file_name(name: str) -> str:
    """Return a file name that is safe in paths and URLs, unique for each name."""
    slug = re.sub(r"[^a-z0-9_-]+", "-", name.lower()).strip("-")[:60]
    return slug if slug and slug == name else f"{slug or 'x'}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def site_url(text: str) -> str:
    """Return the address of a published site with a slash at its end; anything but an http(s) URL is an error."""
    if not re.fullmatch(r"https?://[A-Za-z0-9.-]+(:\d{1,5})?(/[A-Za-z0-9._~%@/-]*)?", text):
        raise GraphTrialError(f"'{text}' is not the address of a site; write it as https://example.org/results")
    return text.rstrip("/") + "/"


def sitemap(folder: Path, url: str) -> str:
    """Return the list of all pages below a folder for search engines, by the protocol of sitemaps.org."""
    pages = sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*.html"))
    lines = (f"<url><loc>{escape(url + page)}</loc></url>" for page in pages)
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    return "\n".join([head, *lines, "</urlset>", ""])
