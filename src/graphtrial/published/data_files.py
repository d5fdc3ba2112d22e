"""Normalised data files, cached."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def read_lines(name: str) -> tuple[dict[str, Any], ...]:
    """Return the objects of a file of JSON lines, such as `results.jsonl`."""
    text = files("graphtrial.published").joinpath(name).read_text(encoding="utf-8")
    return tuple(json.loads(line) for line in text.splitlines())


def published_facts(dataset: str) -> list[dict[str, str]]:
    """Return the published facts of a dataset (statistics, task, split), one mapping per table."""
    return [line for line in read_lines("datasets.jsonl") if dataset in line["datasets"]]
