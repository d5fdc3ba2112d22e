"""Weights & Biases: one run per trial."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from graphtrial.core.errors import missing_extra
from graphtrial.results.titles import trial_title
from graphtrial.tracking import facts
from graphtrial.training.outcome import Epoch
from graphtrial.trials.store import FINISHED, TrialRecord

PROJECT = "graphtrial"
ONLINE_KEYS = ("WANDB_API_KEY", "WANDB_BASE_URL")


class WeightsAndBiases:
    """Weights & Biases tracker: writes to `wandb/` next to the store, for `wandb sync`, or to a server.

    Offline unless `WANDB_MODE` says otherwise or `WANDB_API_KEY` or `WANDB_BASE_URL` is set; the project is
    `WANDB_PROJECT`, else "graphtrial". Only what the store records is sent: no code, console output or hardware
    statistics. The id of a run is that of its trial, so that a resumed trial continues its run.
    """

    def __init__(self, folder: Path) -> None:
        os.environ.setdefault("WANDB_ERROR_REPORTING", "false")  # no requests but to the tracking server
        try:
            import wandb
        except ImportError:
            raise missing_extra("--track wandb", "wandb", "wandb") from None
        online = any(os.environ.get(key) for key in ONLINE_KEYS)
        self.mode = os.environ.get("WANDB_MODE") or ("online" if online else "offline")
        self.wandb: Any = wandb
        self.folder = folder
        self.runs: dict[str, Any] = {}

    def start(self, record: TrialRecord) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.runs[record.id] = self.wandb.init(
            project=os.environ.get("WANDB_PROJECT") or PROJECT,
            id=record.id,
            name=trial_title(record),
            config=facts.settings(record),
            dir=str(self.folder),
            mode=self.mode,
            resume=None if self.mode == "offline" else "allow",  # runs of one id are joined by `wandb sync`
            reinit="create_new",  # parallel trials have a run each
            settings=self.wandb.Settings(
                silent=True,
                console="off",
                disable_git=True,
                save_code=False,
                x_disable_stats=True,
                x_disable_meta=True,
                x_disable_machine_info=True,
            ),
        )

    def epoch(self, record: TrialRecord, epoch: Epoch) -> None:
        self.runs[record.id].log(facts.numbers(epoch, record.metric), step=epoch.epoch)

    def end(self, record: TrialRecord) -> None:
        run = self.runs.pop(record.id)
        run.summary.update({**facts.scores(record), "status": record.status})
        run.finish(exit_code=0 if record.status in FINISHED else 1)

    def close(self) -> None:
        for run in self.runs.values():
            run.finish(exit_code=1)
