"""One page per trial: the full specification, where it ran, its curve, and how to run it again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime, timezone

from graphtrial.report.rows import short_encoding
from graphtrial.report.site import charts
from graphtrial.report.site.rowgrid import duration
from graphtrial.report.site.site import Site, pretty
from graphtrial.report.site.views import trial_page
from graphtrial.studies.store import TrialRecord
from graphtrial.training.outcome import Epoch

ROOT = "../"


def write(site: Site) -> None:
    """Write the pages of trials that stand in no row; the others are written with their rows."""
    for trial in site.trials:
        if trial.id not in site.row_of:
            write_page(site, trial, site.store.history(trial.id))


def write_page(site: Site, trial: TrialRecord, history: Sequence[Epoch]) -> None:
    """Write the page of a trial, and the trial as JSON beside it."""
    page = trial_page(trial)
    whole = {
        "id": trial.id,
        "status": trial.status,
        "metric": trial.metric,
        "scores": trial.scores,
        "params": trial.params,
        "spec": trial.spec.to_dict(),
        "environment": trial.environment,
        "details": trial.details,
    }
    columns = [field.name for field in fields(Epoch)]
    epochs = {"epochs": {name: [getattr(epoch, name) for epoch in history] for name in columns}}
    site.write(f"{page.removesuffix('.html')}.json", _compact({**whole, **epochs}))
    view = site.row_of.get(trial.id)
    site.page(
        page,
        "trial.html",
        trial=trial,
        view=view,
        encoding=short_encoding(trial.spec.encoding),
        figures=_figures(trial),
        curve=charts.one_training(history, trial.metric),
        spec=pretty(trial.spec.to_dict()),
        environment=pretty(trial.environment),
        details=pretty(trial.details) if trial.details else "",
        command=site.reproduce(trial.id),
        beside=page.rpartition("/")[2].removesuffix(".html") + ".json",
    )


def _figures(trial: TrialRecord) -> list[tuple[str, str]]:
    seconds = trial.details.get("seconds") or (trial.epochs or 0) * (trial.epoch_seconds or 0)
    when = datetime.fromtimestamp(trial.started, timezone.utc)
    found = [
        ("status", trial.status),
        *(
            (f"{part} {trial.metric}", f"{trial.scores[part]:.4g}")
            for part in ("test", "val", "train")
            if part in trial.scores
        ),
        ("epochs", str(trial.epochs or "")),
        ("time", duration(seconds / 3600) if seconds else ""),
        ("parameters", f"{trial.params:,}" if trial.params else ""),
        ("started", f"{when:%Y-%m-%d}"),
    ]
    return [(name, value) for name, value in found if value]


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
