"""Ours beside the published, for every dataset that can be had on this machine."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from graphtrial.core.errors import GraphTrialError, MissingDependencyError
from graphtrial.datasets.base import DATASETS, DatasetSpec, Source
from graphtrial.datasets.prepare import is_kept, load, source_at_hand
from graphtrial.datasets.statistics import compare
from graphtrial.io.sources import find

Status = Literal["agrees", "explained", "unsettled", "differs", "nothing published", "not here", "left out", "failed"]
COMPARED: tuple[Status, ...] = ("agrees", "explained", "unsettled", "differs")
WRONG: tuple[Status, ...] = ("differs", "failed")


def all_names() -> list[str]:
    """Return the name of every dataset, each once, however many spellings were asked for."""
    return sorted({DATASETS.get(name).name for name in DATASETS})


def check(name: str, *, fetch: bool = False, large: bool = True) -> dict[str, Any]:
    """Compare a dataset with its published statistics and return JSON-like facts: name, status, reason, rows and more.

    `agrees`: every number is the published one, or where graphs are generated within sampling error of it; `explained`:
    so, but for differences that are known, each with its reason; `differs`: some number does not fit; `unsettled`: so,
    but the publication is less certain than the data, so that it says nothing against the data; `nothing
    published`; `not here`: a file or package is missing, and `reason` says which; `left out`: it takes long to
    make; `failed`: it cannot be prepared, and `reason` says why. Nothing is downloaded unless `fetch` is set.
    """
    spec = DATASETS.get(name)()
    source = source_at_hand(spec)
    facts: dict[str, Any] = {"name": spec.name, "title": spec.title, "source": None, "exact": None, "rows": []}
    if source is None and not fetch:
        needed = dict.fromkeys(_absent(source) for source in spec.sources)
        reason = f"put into the folder of GRAPHTRIAL_MIRROR, or fetch: {'; or '.join(needed)}"
        return facts | {"status": "not here", "reason": reason, "files": _missing(spec)}
    if spec.large and not large:
        return facts | {"status": "left out", "reason": "it takes minutes or gigabytes to prepare; ask for large ones"}
    if source is not None and source.hours and not is_kept(spec.name):
        how = f"`graphtrial data prepare {spec.name}` does so"
        reason = f"it takes about {source.hours:.0f} hours of one core to make; {how}"
        return facts | {"status": "left out", "reason": reason}
    try:
        dataset = load(spec.name)
    except MissingDependencyError as error:
        return facts | {"status": "not here", "reason": str(error), "files": []}
    except GraphTrialError as error:
        return facts | {"status": "failed", "reason": str(error)}
    used = next(source for source in spec.sources if source.name == dataset.provenance["source"])
    facts |= {"source": used.name, "exact": used.exact, "hash": dataset.hash}
    if spec.published is None:
        return facts | {"status": "nothing published", "reason": f"there is nothing to compare {spec.name} with"}
    rows = compare(spec.published, dataset.graphs, dataset.splits, used.exact)
    return facts | {"rows": rows, **_verdict(rows, spec.published.binding)}


def summary(checked: Iterable[dict[str, Any]]) -> dict[str, int]:
    """Return how many datasets have which status."""
    counts: dict[str, int] = {}
    for facts in checked:
        counts[facts["status"]] = counts.get(facts["status"], 0) + 1
    return dict(sorted(counts.items()))


def _verdict(rows: list[dict[str, Any]], binding: bool) -> dict[str, str]:
    wrong = [row for row in rows if not row["agrees"]]
    known = [row for row in rows if "reason" in row]
    if wrong:
        told = [f"{row['what']} {row['ours']} instead of {row['published']} ({row['rule']})" for row in wrong]
        if binding:
            return {"status": "differs", "reason": "; ".join(told)}
        why = "no archive was checked against the published table, which has known errors"
        return {"status": "unsettled", "reason": f"{'; '.join(told)}; {why}"}
    if known:
        return {"status": "explained", "reason": "; ".join(f"{row['what']}: {row['reason']}" for row in known)}
    return {"status": "agrees", "reason": ""}


def _absent(source: Source) -> str:
    files = [file for file in source.files if not find(file)]
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    return f"{files[0].name} from {files[0].url or 'its publisher'}{more}"


def _missing(spec: DatasetSpec) -> list[dict[str, str | None]]:
    """Return every file that is not here, of whichever source, with its address."""
    files = {file.name: file.url for source in spec.sources for file in source.files if not find(file)}
    return [{"name": name, "url": url} for name, url in files.items()]
