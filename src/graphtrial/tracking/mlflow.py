"""MLflow: one run per trial."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

from graphtrial.core.errors import missing_extra
from graphtrial.results.titles import trial_title
from graphtrial.tracking import facts
from graphtrial.training.outcome import Epoch
from graphtrial.trials.store import FINISHED, TrialRecord

EXPERIMENT = "graphtrial"
TRIAL_TAG = "graphtrial.trial"


class MLflow:
    """MLflow tracker: writes to the server of `MLFLOW_TRACKING_URI`, else to `mlflow.db` next to the store.

    A resumed trial continues its run.
    """

    def __init__(self, folder: Path) -> None:
        os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")  # no requests but to the tracking server
        try:
            import alembic  # noqa: F401 - needed for mlflow.db
            import sqlalchemy  # noqa: F401 - as well
            from mlflow.entities import Metric, Param
            from mlflow.tracking import MlflowClient
        except ImportError:
            raise missing_extra("--track mlflow", "mlflow", "tracking") from None
        for name in ("alembic", "mlflow"):
            logging.getLogger(name).setLevel(logging.WARNING)
        folder.mkdir(parents=True, exist_ok=True)
        address = os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{(folder / 'mlflow.db').absolute()}"
        self.client: Any = MlflowClient(address)
        self.metric: Any = Metric
        self.param: Any = Param
        self.folder = folder
        self.experiment: str | None = None
        self.runs: dict[str, str] = {}

    def start(self, record: TrialRecord) -> None:
        experiment = self._experiment()
        runs = self.client.search_runs([experiment], f"tags.`{TRIAL_TAG}` = '{record.id}'", max_results=1)
        if runs:
            self.runs[record.id] = runs[0].info.run_id
            self.client.update_run(self.runs[record.id], status="RUNNING")
            return
        tags = {TRIAL_TAG: record.id}
        run = self.client.create_run(experiment, run_name=trial_title(record), tags=tags)
        self.runs[record.id] = run.info.run_id
        params = [self.param(key, value) for key, value in facts.settings(record).items()]
        self.client.log_batch(run.info.run_id, params=params)

    def epoch(self, record: TrialRecord, epoch: Epoch) -> None:
        self._log(record, facts.numbers(epoch, record.metric), epoch.epoch)

    def end(self, record: TrialRecord) -> None:
        self._log(record, facts.scores(record), record.epochs or 0)
        run = self.runs.pop(record.id)
        self.client.set_tag(run, "graphtrial.status", record.status)
        status = "FINISHED" if record.status in FINISHED else "KILLED" if record.status == "interrupted" else "FAILED"
        self.client.set_terminated(run, status)

    def close(self) -> None:
        for run in self.runs.values():
            self.client.set_terminated(run, "KILLED")

    def _experiment(self) -> str:
        if self.experiment is None:
            existing = self.client.get_experiment_by_name(EXPERIMENT)
            self.experiment = existing.experiment_id if existing else self.client.create_experiment(EXPERIMENT)
        return self.experiment

    def _log(self, record: TrialRecord, numbers: dict[str, float], step: int) -> None:
        now = int(1000 * (record.finished or record.started))
        metrics = [self.metric(name, value, now, step) for name, value in numbers.items()]
        self.client.log_batch(self.runs[record.id], metrics=metrics)
