"""One page per training: specification, environment, learning curve, and the command that reproduces it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone

from graphtrial.report import charts
from graphtrial.report.addresses import trial_page
from graphtrial.report.site import Site, pretty
from graphtrial.results.columns.formats import duration
from graphtrial.results.titles import dataset_title, encoding_title, model_title
from graphtrial.training.outcome import Epoch
from graphtrial.trials.store import TrialRecord


def write(site: Site) -> None:
    """Write the pages of trials that model selection left out of their row; the others are written with their rows."""
    for trial in site.trials:
        if trial.id not in site.row_of:
            write_page(site, trial, site.history(trial))


def write_page(site: Site, trial: TrialRecord, history: Sequence[Epoch]) -> None:
    """Write the page of a trial."""
    site.page(
        trial_page(trial),
        "trial.html",
        trial=trial,
        view=site.row_of.get(trial.id),
        title=f"{model_title(trial.spec)} on {dataset_title(trial.spec.dataset)}",
        encoding=encoding_title(trial.spec.encoding) or "none",
        figures=_figures(trial),
        curve=charts.one_training(history, trial.metric),
        spec=pretty(trial.spec.to_dict()),
        environment=pretty(trial.environment),
        details=pretty(trial.details) if trial.details else "",
        command=site.reproduce(trial.id),
    )


def _figures(trial: TrialRecord) -> list[tuple[str, str]]:
    seconds = trial.details.get("seconds") or (trial.epochs or 0) * (trial.epoch_seconds or 0)
    when = datetime.fromtimestamp(trial.started, timezone.utc)
    figures = [
        ("status", trial.status),
        *(
            (f"{part} {trial.metric}", f"{trial.scores[part]:.4g}")
            for part in ("test", "val", "train")
            if part in trial.scores
        ),
        ("epochs", str(trial.epochs or "")),
        ("time", duration(seconds / 3600) if seconds else ""),
        ("device", trial.device),
        ("parameters", f"{trial.params:,}" if trial.params else ""),
        ("started", f"{when:%Y-%m-%d}"),
    ]
    return [(name, value) for name, value in figures if value]
