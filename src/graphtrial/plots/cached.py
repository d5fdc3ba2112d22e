"""Cached figures and metadata of prepared datasets, for the report."""

from __future__ import annotations

import json
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from graphtrial.core.cache import cache_folder, cached, verify_digests, write_digests
from graphtrial.core.errors import GraphTrialError
from graphtrial.core.files import atomic_folder, read_json
from graphtrial.core.spec import digest
from graphtrial.datasets import info, load
from graphtrial.datasets.prepare import is_prepared
from graphtrial.plots.figures import plot

FACTS = "facts.json"


def cached_plots(name: str, data: str) -> tuple[dict[str, Any], tuple[Path, ...]]:
    """Return metadata and figures of a dataset with content hash `data`; empty where it is not prepared locally.

    Never prepares a dataset, and never shows data with another hash.
    """
    if ":" in name:  # module:attribute, which an untrusted store must not make us import
        return {}, ()
    folder = cache_folder("pictures", name.lower(), digest([data, version("graphtrial")]))

    def make() -> None:
        dataset = load(name)
        if dataset.hash != data:
            raise GraphTrialError(f"{name} is other data now")
        with atomic_folder(folder) as temporary:
            plot(dataset, temporary)
            (temporary / FACTS).write_text(json.dumps(info(name)), encoding="utf-8")
            write_digests(temporary)

    def read() -> tuple[dict[str, Any], tuple[Path, ...]]:
        verify_digests(folder)
        return read_json(folder / FACTS), tuple(sorted(folder.glob("*.png")))

    try:
        if not folder.exists() and not is_prepared(name):
            return {}, ()
        if find_spec("matplotlib") is None:
            return (info(name), ()) if load(name).hash == data else ({}, ())
        return cached(folder, make, read)
    except GraphTrialError:  # other data, a missing plug-in or an empty dataset: the page shows no figures
        return {}, ()
