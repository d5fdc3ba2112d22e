"""Addresses of pages from the top of the site."""

from __future__ import annotations

import hashlib
import re

from graphtrial.trials.store import TrialRecord


def has_page(trial: TrialRecord) -> bool:
    """Tell whether a trial has a page of its own: a training, or a failure; a fold of a kernel is a line of its row."""
    return trial.spec.kind.has_epochs or bool(trial.error)


def trial_page(trial: TrialRecord) -> str:
    """Return the address of a trial's page from the top of the site."""
    return f"trials/{file_name(trial.id)}.html"


def table_page(paper: str, number: int) -> str:
    """Return the address of the page of a published table from the top of the site; papers are ours to name."""
    return f"papers/{paper}-table-{number}.html"


def dataset_page(dataset: str) -> str:
    """Return the address of a dataset's page from the top of the site."""
    return f"datasets/{file_name(dataset)}.html"


def model_page(model: str) -> str:
    """Return the address of a model's page from the top of the site."""
    return f"models/{file_name(model)}.html"


def file_name(name: str) -> str:
    """Return a file name that is safe in any folder and address, unique for each name."""
    plain = re.sub(r"[^a-z0-9_-]+", "-", name.lower()).strip("-")[:60]
    return plain if plain and plain == name else f"{plain or 'x'}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
