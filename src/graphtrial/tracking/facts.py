"""What trackers are told of a trial."""

from __future__ import annotations

from typing import Any

from graphtrial.training.outcome import Epoch
from graphtrial.trials.store import TrialRecord


def settings(record: TrialRecord) -> dict[str, str]:
    """Return the specification as names and texts: `model.width`, `rules.lr` and so on; defaults included."""
    found: dict[str, str] = {}

    def walk(name: str, value: Any) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                walk(f"{name}.{key}" if name else key, inner)
        elif value is not None:
            found[name.replace("model.arguments", "model").replace("encoding.arguments", "encoding")] = str(value)

    values = record.spec.to_dict()
    values["model"] = {"name": record.spec.model.name, "arguments": record.spec.settings}
    walk("", values)
    return found


def numbers(epoch: Epoch, metric: str) -> dict[str, float]:
    """Return the numbers of an epoch by the names that trackers show."""
    return {
        "train loss": epoch.train_loss,
        "val loss": epoch.val_loss,
        f"val {metric}": epoch.val_score,
        "learning rate": epoch.lr,
        "seconds": epoch.seconds,
    }


def scores(record: TrialRecord) -> dict[str, float]:
    """Return the final scores by the names that trackers show."""
    return {f"final {part} {record.metric}": score for part, score in record.scores.items()}
