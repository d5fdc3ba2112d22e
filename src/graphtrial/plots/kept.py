"""Pictures and facts of datasets that are prepared here, drawn once and kept in the cache."""

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
from graphtrial.datasets.prepare import is_kept
from graphtrial.plots.figures import plot

FACTS = "facts.json"


def kept_pictures(name: str, data: str) -> tuple[dict[str, Any], tuple[Path, ...]]:
    """Return facts and pictures of a dataset with this content hash; nothing where it is not prepared here.

    No dataset is prepared for its pictures, and data other than those asked for are not shown in their place.
    """
    if ":" in name:  # module:attribute, which a store must not make us import
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
        if not folder.exists() and not is_kept(name):
            return {}, ()
        if find_spec("matplotlib") is None:
            return (info(name), ()) if load(name).hash == data else ({}, ())
        return cached(folder, make, read)
    except GraphTrialError:  # other data, a plug-in that is not loaded, nothing to draw: the page does without
        return {}, ()
