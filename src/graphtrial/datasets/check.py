"""Compare the statistics of datasets with the published ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from graphtrial.core.errors import GraphTrialError, MissingDependencyError
from graphtrial.datasets.base import DATASETS, DatasetSpec, Source
from graphtrial.datasets.prepare import available_source, is_prepared, load
from graphtrial.datasets.statistics import compare
from graphtrial.io.sources import find

Status = Literal["agrees", "explained", "unsettled", "differs", "nothing published", "missing", "skipped", "failed"]
COMPARED: tuple[Status, ...] = ("agrees", "explained", "unsettled", "differs")
WRONG: tuple[Status, ...] = ("differs", "failed")


def all_names() -> list[str]:
    """Return the canonical names of all registered datasets, without duplicates."""
    return sorted({DATASETS.get(name).name for name in DATASETS})


def check(name: str, *, fetch: bool = False, large: bool = True) -> dict[str, Any]:
    """Compare a dataset with its published statistics; returns JSON-like facts: name, status, reason, rows and more.

    Status `agrees`: all statistics equal the published ones, or agree within sampling error if generated; `explained`:
    they agree except for documented differences; `differs`: an undocumented difference; `unsettled`: an undocumented
    difference, but the published table is less reliable than the data; `nothing published`: no reference; `missing`: a
    file or package is not installed; `skipped`: preparation takes too long; `failed`: preparation raised an error.
    `reason` has the details. Nothing is downloaded unless `fetch` is set.
    """
    spec = DATASETS.get(name)()
    source = available_source(spec)
    facts: dict[str, Any] = {"name": spec.name, "title": spec.title, "source": None, "exact": None, "rows": []}
    if source is None and not fetch:
        needed = dict.fromkeys(_missing_text(source) for source in spec.sources)
        reason = f"put into the folder of GRAPHTRIAL_MIRROR, or fetch: {'; or '.join(needed)}"
        return facts | {"status": "missing", "reason": reason, "files": _missing_files(spec)}
    if spec.large and not large:
        return facts | {"status": "skipped", "reason": "preparation takes minutes or gigabytes; include large datasets"}
    if source is not None and source.hours and not is_prepared(spec.name):
        command = f"`graphtrial data prepare {spec.name}`"
        reason = f"preparation takes about {source.hours:.0f} core hours; start it with {command}"
        return facts | {"status": "skipped", "reason": reason}
    try:
        dataset = load(spec.name)
    except MissingDependencyError as error:
        return facts | {"status": "missing", "reason": str(error), "files": []}
    except GraphTrialError as error:
        return facts | {"status": "failed", "reason": str(error)}
    used = next(source for source in spec.sources if source.name == dataset.provenance["source"])
    facts |= {"source": used.name, "exact": used.exact, "hash": dataset.hash}
    if spec.published is None:
        return facts | {"status": "nothing published", "reason": f"there is nothing to compare {spec.name} with"}
    rows = compare(spec.published, dataset.graphs, dataset.splits, used.exact)
    return facts | {"rows": rows, **_verdict(rows, spec.published.binding)}


def summary(checked: Iterable[dict[str, Any]]) -> dict[str, int]:
    """Return the number of datasets per status."""
    counts: dict[str, int] = {}
    for facts in checked:
        counts[facts["status"]] = counts.get(facts["status"], 0) + 1
    return dict(sorted(counts.items()))


def _verdict(rows: list[dict[str, Any]], binding: bool) -> dict[str, str]:
    wrong = [row for row in rows if not row["agrees"]]
    explained = [row for row in rows if "reason" in row]
    if wrong:
        differences = [f"{row['what']} {row['ours']} instead of {row['published']} ({row['rule']})" for row in wrong]
        if binding:
            return {"status": "differs", "reason": "; ".join(differences)}
        why = "no archive was checked against the published table, which has known errors"
        return {"status": "unsettled", "reason": f"{'; '.join(differences)}; {why}"}
    if explained:
        return {"status": "explained", "reason": "; ".join(f"{row['what']}: {row['reason']}" for row in explained)}
    return {"status": "agrees", "reason": ""}


def _missing_text(source: Source) -> str:
    files = [file for file in source.files if not find(file)]
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    return f"{files[0].name} from {files[0].url or 'its publisher'}{more}"


def _missing_files(spec: DatasetSpec) -> list[dict[str, str | None]]:
    """Return name and URL of all missing files of all sources."""
    files = {file.name: file.url for source in spec.sources for file in source.files if not find(file)}
    return [{"name": name, "url": url} for name, url in files.items()]
