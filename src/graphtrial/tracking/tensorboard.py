"""TensorBoard: one folder of events per trial."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graphtrial.core.errors import missing_extra
from graphtrial.results.titles import trial_title
from graphtrial.tracking import facts
from graphtrial.training.outcome import Epoch
from graphtrial.trials.store import TrialRecord


class TensorBoard:
    """TensorBoard tracker: writes to `tensorboard/` next to the store, for `tensorboard --logdir FOLDER`."""

    def __init__(self, folder: Path) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise missing_extra("--track tensorboard", "tensorboard", "tracking") from None
        self.folder = folder / "tensorboard"
        self.make: Any = SummaryWriter
        self.writers: dict[str, Any] = {}

    def start(self, record: TrialRecord) -> None:
        writer = self.make(log_dir=str(self.folder / record.id))
        settings = "\n".join(f"    {key} = {value}" for key, value in facts.settings(record).items())
        writer.add_text("trial", f"{trial_title(record)}\n\n{settings}")
        self.writers[record.id] = writer

    def epoch(self, record: TrialRecord, epoch: Epoch) -> None:
        for name, value in facts.numbers(epoch, record.metric).items():
            self.writers[record.id].add_scalar(name, value, epoch.epoch)

    def end(self, record: TrialRecord) -> None:
        writer = self.writers.pop(record.id)
        for name, value in facts.scores(record).items():
            writer.add_scalar(name, value, record.epochs or 0)
        writer.add_text("status", record.status)
        writer.close()

    def close(self) -> None:
        for writer in self.writers.values():
            writer.close()
