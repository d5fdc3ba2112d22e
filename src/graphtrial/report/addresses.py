"""Relative URLs of pages, from the root of the site."""

from __future__ import annotations

import hashlib
import re

from graphtrial.trials.store import TrialRecord


def has_page(trial: TrialRecord) -> bool:
    """Whether a trial has its own page: trainings and failures have; a fold of a kernel is a line of its row."""
    return trial.spec.kind.has_epochs or bool(trial.error)


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
